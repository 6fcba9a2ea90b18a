/** Sculpting on the stage: the clay in place of the skin's meshes, the ring at the pointer, and strokes frame by frame. */

import { Matrix4 } from "three";

import type { Stage } from "../page/stage.js";
import { BrushPointer } from "./brush_pointer.js";
import type { Held, PointerUser } from "./brush_pointer.js";
import { BrushRing } from "./brush_ring.js";
import type { BrushSettings } from "./brush_settings.js";
import { BrushSize } from "./brush_size.js";
import { Clay } from "./clay.js";
import { FrozenPose } from "./frozen_pose.js";
import type { Sculpting } from "./sculpting.js";
import { coverAt, strokeOf } from "./stroke.js";
import type { Cover, Sample, Stroke } from "./stroke.js";

/** What hears of a session. */
export interface SessionUser {
  /** The shape has changed: a stroke was done, undone or redone. */
  changed(): void;
  /** Something tried to change the pose. */
  held(): void;
  /** Whether the shape is on its way to the server: strokes that began now would be lost. */
  busy(): boolean;
}

export class SculptSession implements PointerUser {
  private readonly clay: Clay;
  private readonly ring: BrushRing;
  private readonly size: BrushSize;
  private readonly frozen: FrozenPose;
  private readonly stopListening: () => void;
  private readonly seenFrom = new Matrix4();
  private stroke: Stroke | null = null;
  private readonly samples: Sample[] = [];
  private pointer: { x: number; y: number } | null = null;
  /** Whether the ring may have to be drawn elsewhere. */
  private stale = true;

  constructor(
    private readonly stage: Stage,
    readonly sculpting: Sculpting,
    private readonly settings: BrushSettings,
    private readonly user: SessionUser,
  ) {
    const canvas = stage.renderer.domElement;
    this.clay = new Clay(sculpting);
    this.ring = new BrushRing(canvas);
    this.size = new BrushSize(settings, this.ring);
    this.frozen = new FrozenPose(stage);
    this.stopListening = new BrushPointer(canvas, this).listen();
    stage.scene.add(this.clay.mesh);
    stage.drags.paused = true;
    stage.overlay.visible = false;
    stage.joints.hover(-1);
    stage.comparison.mode = "single";
  }

  /** The pose that is sculpted at. */
  get pose() {
    return this.frozen.pose;
  }

  /** Before each frame: what the pointer did since the one before. */
  update(): void {
    const { stage, size, stroke } = this;
    if (this.frozen.keep()) this.user.held();
    if (stroke) {
      for (const sample of this.samples.splice(0)) stroke.to(sample);
      this.show(stroke.cover);
    } else if (size.active) this.showSize();
    else if (this.stale || !this.seenFrom.equals(stage.camera.matrixWorld)) this.show(this.hovered());
    this.seenFrom.copy(stage.camera.matrixWorld);
    this.stale = false;
  }

  /** The clay is drawn in place of all meshes of the skin, those of a skin that was loaded meanwhile too. */
  beforeDraw(): void {
    for (const mesh of this.stage.meshes) mesh.visible = false;
  }

  /** The settings have changed. */
  refresh(): void {
    this.stale = true;
    this.stage.wake();
  }

  undo(): void {
    if (this.user.busy()) return;
    this.stroke = null;
    if (this.sculpting.undo()) this.reshaped();
  }

  redo(): void {
    if (!this.user.busy() && this.sculpting.redo()) this.reshaped();
  }

  /** Take another shape (N, 3). */
  replace(points: Float32Array): void {
    this.sculpting.replace(points);
    this.reshaped();
  }

  /** Let the pointer set radius or strength. */
  beginSize(quantity: "radius" | "strength"): void {
    const { width, height } = this.stage.picture;
    const { x, y } = this.pointer ?? { x: width / 2, y: height / 2 };
    if (!this.stroke) this.size.begin(quantity, x, y);
    this.refresh();
  }

  /** Take back what is being done now. */
  escape(): void {
    if (this.size.active) this.size.cancel();
    else this.cancel();
    this.refresh();
  }

  begin(sample: Sample, held: Held): boolean {
    const { clay, stage, settings } = this;
    const hit = clay.meet(stage.picture, sample.x, sample.y);
    if (!hit || this.user.busy()) return false;
    this.sculpting.begin();
    this.stroke = strokeOf(clay, stage.picture, settings, settings.use(held), { ...sample, hit });
    return true;
  }

  to(sample: Sample): void {
    this.pointer = sample;
    this.samples.push(sample);
  }

  end(): void {
    if (this.stroke) for (const sample of this.samples.splice(0)) this.stroke.to(sample);
    this.stroke = null;
    if (this.sculpting.end()) this.user.changed();
    this.refresh();
  }

  cancel(): void {
    this.samples.length = 0;
    this.stroke = null;
    this.sculpting.cancel();
    this.clay.settle();
    this.refresh();
  }

  hover(at: { x: number; y: number } | null): void {
    this.pointer = at;
    if (at && this.size.active) this.size.to(at.x, at.y);
    this.refresh();
  }

  click(confirmed: boolean): boolean {
    const { active } = this.size;
    if (confirmed) this.size.end();
    else this.size.cancel();
    if (active) this.refresh();
    return active;
  }

  /** Show the skin again. */
  dispose(): void {
    this.stopListening();
    this.ring.dispose();
    this.clay.dispose();
    for (const mesh of this.stage.meshes) mesh.visible = true;
    this.stage.drags.paused = false;
    this.stage.overlay.visible = true;
    this.stage.wake();
  }

  private reshaped(): void {
    this.clay.settle();
    this.refresh();
    this.user.changed();
  }

  /** What the brush would cover at the pointer. */
  private hovered(): Cover | null {
    const { pointer, clay, stage } = this;
    const hit = pointer && clay.meet(stage.picture, pointer.x, pointer.y);
    return hit && coverAt(clay, stage.picture, this.settings, hit);
  }

  private showSize(): void {
    this.clay.tint(new Uint32Array(), new Float32Array());
    this.size.draw(this.stage.picture);
  }

  private show(cover: Cover | null): void {
    const { ring, clay, stage, sculpting } = this;
    if (!cover) {
      ring.hide();
      clay.tint(new Uint32Array(), new Float32Array());
      return;
    }
    ring.show(stage.picture, cover.position, cover.normal, cover.radius);
    const { vertices, falloff } = sculpting.felt(cover);
    clay.tint(vertices, falloff);
  }
}
