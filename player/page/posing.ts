/** What poses the skin: its rest pose, a clip, a listed pose, key poses, or the user's hand. */

import { AnimationMixer } from "three";
import type { AnimationAction, AnimationClip, Object3D } from "three";

import type { PoseSkin } from "../three/index.js";
import type { PagePose } from "./data.js";
import { History } from "./history.js";
import { KeyBlend } from "./key_blend.js";
import { frameRate } from "./timeline.js";
import type { Line } from "./timeline.js";

/** A pose of the skin, and what brought it there: what undoing goes back to. */
interface State {
  pose: PagePose;
  source: PoseSource;
}

/** A bone and its rest transform. */
export interface Rest {
  bone: Object3D;
  rotation: Object3D["quaternion"];
  position: Object3D["position"];
}

export type PoseSource =
  | { kind: "rest" }
  | { kind: "clip"; index: number }
  | { kind: "listed"; index: number }
  | { kind: "keys" }
  | { kind: "hand" };

export class Posing {
  source: PoseSource = { kind: "rest" };
  /** Whether the clip goes on by itself, or the key poses do. */
  playing = true;
  readonly rests: Rest[];
  readonly keys = new KeyBlend();
  /** Where the timeline is, in seconds. */
  cursor = 0;
  /** The clip that the timeline shows; -1: it shows the key poses. */
  private clip = -1;
  private readonly mixer: AnimationMixer;
  private readonly history = new History<State>();
  /** What was before the change that is going on. */
  private before: State | null = null;
  private action: AnimationAction | null = null;

  constructor(
    root: Object3D,
    readonly clips: AnimationClip[],
    private readonly skins: PoseSkin[],
    private readonly changed: () => void,
  ) {
    this.mixer = new AnimationMixer(root);
    this.rests = (skins[0]?.bones ?? []).map((bone) => ({
      bone,
      rotation: bone.quaternion.clone(),
      position: bone.position.clone(),
    }));
  }

  /** The names of the joints, as the file has them. */
  get names(): string[] {
    return this.rests.map(({ bone }) => nameOf(bone));
  }

  /** Whether something moves the skin without the user's hand. */
  get moving(): boolean {
    return this.playing && (this.source.kind === "clip" || this.source.kind === "keys");
  }

  /** The pose as it is now, under a name. */
  pose(name: string): PagePose {
    const rotations = this.rests.flatMap(({ bone }) => bone.quaternion.toArray() as number[]);
    const translations = this.rests.flatMap(({ bone, position }) => bone.position.clone().sub(position).toArray());
    return { name, joints: [...rotations, ...translations], controls: { ...this.skins[0]?.controls } };
  }

  /** Bring all bones and controls back to rest, as one step of undo. */
  rest(): void {
    this.edit(() => this.toRest());
  }

  /** Play a clip from its start; without such a clip, rest. The pose before comes back by undo. */
  play(index: number): void {
    this.edit(() => {
      this.toRest();
      [this.clip, this.cursor] = [this.clips[index] ? index : -1, 0];
      this.playing = true;
      if (this.clip < 0) return;
      this.action = this.mixer.clipAction(this.clips[index]).play();
      this.changeTo({ kind: "clip", index });
    });
  }

  /** What the timeline shows; null: there is neither a clip nor are there key poses to blend. */
  get line(): Line | null {
    const clip = this.clips[this.clip];
    if (!clip) return this.keys.line;
    return { duration: clip.duration, rate: frameRate(clip), marks: this.keys.marksOn(this.clip) };
  }

  /** Play on from where the timeline is, or pause. */
  togglePlay(): void {
    this.playing = !this.moving;
    this.goOn();
  }

  /** Pause at a time of the timeline. */
  seek(seconds: number): void {
    this.playing = false;
    this.cursor = seconds;
    this.goOn();
  }

  /** The key poses are others now: stay on their timeline, or leave it where there is none any more. */
  followKeys(): void {
    if (this.clip >= 0) return;
    const { line } = this;
    this.cursor = Math.min(this.cursor, line?.duration ?? 0);
    if (this.source.kind !== "keys") return;
    if (line) this.show();
    else this.hold();
  }

  /** Take a pose that comes from somewhere, such as the page's list, as one step of undo. */
  take(pose: PagePose, source: PoseSource): void {
    this.edit(() => this.put(pose, source));
  }

  /** Bring the bones and controls into a pose; this is no step of undo. */
  put({ joints, controls }: PagePose, source: PoseSource): void {
    this.reset();
    this.rests.forEach(({ bone, position }, k) => {
      bone.quaternion.fromArray(joints, 4 * k);
      bone.position.fromArray(joints, 4 * this.rests.length + 3 * k).add(position);
    });
    for (const skin of this.skins) {
      for (const name of Object.keys(skin.controls)) skin.controls[name] = controls[name] ?? 0;
    }
    this.changeTo(source);
  }

  /** End the clip and keep all bones as they are: the user has moved one. */
  hold(): void {
    const held = this.rests.map(({ bone }) => [bone.quaternion.clone(), bone.position.clone()] as const);
    this.stop();
    this.rests.forEach(({ bone }, k) => {
      bone.quaternion.copy(held[k][0]);
      bone.position.copy(held[k][1]);
    });
    this.changeTo({ kind: "hand" });
  }

  /** Begin to change the pose by hand, unless that has begun: `end` keeps the change, `cancel` does not. */
  begin(): void {
    this.before ??= this.state;
  }

  /** The pose before the change that is going on; null: none is. */
  get poseBefore(): PagePose | null {
    return this.before?.pose ?? null;
  }

  /** Keep the change that is going on, as one step of undo. */
  end(): void {
    const { before } = this;
    this.before = null;
    if (!before || same(before.pose, this.pose(""))) return;
    this.history.push(before);
    this.changed();
  }

  /** Go back to what was before the change that is going on. */
  cancel(): void {
    const { before } = this;
    this.before = null;
    if (before) this.put(before.pose, before.source);
  }

  /** Change the pose at once, as one step of undo. */
  edit(change: () => void): void {
    this.end();
    this.begin();
    change();
    this.end();
  }

  /** Go back to the pose before the last change by hand. */
  undo(): void {
    this.end();
    const state = this.history.undo(this.state);
    if (state) this.put(state.pose, state.source);
  }

  /** Bring back the change that was undone last. */
  redo(): void {
    this.end();
    const state = this.history.redo(this.state);
    if (state) this.put(state.pose, state.source);
  }

  get canUndo(): boolean {
    return this.history.canUndo;
  }

  get canRedo(): boolean {
    return this.history.canRedo;
  }

  /** Let the clip, or the key poses, go on. */
  advance(seconds: number): void {
    const { line } = this;
    if (!this.moving || !line) return;
    if (this.action) {
      this.mixer.update(seconds);
      this.cursor = this.action.time;
      return;
    }
    // What goes beyond the end is time of the next round: the length of a frame does not change the speed.
    this.cursor = (this.cursor + seconds) % line.duration;
    this.put(this.keys.at(this.cursor), { kind: "keys" });
  }

  /** Go to where the timeline is. A pose that is not of it comes back by undo. */
  private goOn(): void {
    const { kind } = this.source;
    if (!this.line) return;
    if (kind === "clip" || kind === "keys") this.show();
    else this.edit(() => this.show());
  }

  /** Bring the skin to where the timeline is. */
  private show(): void {
    const clip = this.clips[this.clip];
    if (!clip) {
      this.put(this.keys.at(this.cursor), { kind: "keys" });
      return;
    }
    if (!this.action) {
      this.reset();
      this.action = this.mixer.clipAction(clip).play();
    }
    this.action.time = this.cursor;
    this.mixer.update(0);
    this.changeTo({ kind: "clip", index: this.clip });
  }

  /** The present state. One that plays is a pose by hand when it comes back: it does not play on. */
  private get state(): State {
    const { kind } = this.source;
    return { pose: this.pose(""), source: kind === "clip" || kind === "keys" ? { kind: "hand" } : this.source };
  }

  private toRest(): void {
    this.reset();
    this.changeTo({ kind: "rest" });
  }

  private reset(): void {
    this.stop();
    for (const { bone, rotation, position } of this.rests) {
      bone.quaternion.copy(rotation);
      bone.position.copy(position);
    }
    for (const skin of this.skins) for (const name of Object.keys(skin.controls)) skin.controls[name] = 0;
  }

  private stop(): void {
    this.action?.stop();
    this.action = null;
  }

  private changeTo(source: PoseSource): void {
    this.source = source;
    this.changed();
  }
}

function same(a: PagePose, b: PagePose): boolean {
  const isSame = (name: string) => a.controls[name] === b.controls[name];
  return a.joints.every((value, k) => value === b.joints[k]) && Object.keys(a.controls).every(isSame);
}

/** The name that the file gives a joint: three.js takes dots and other letters out of `name`, "arm.L" becomes "armL". */
export function nameOf(bone: Object3D): string {
  const { name } = bone.userData;
  return typeof name === "string" ? name : bone.name;
}
