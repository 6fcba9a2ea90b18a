/** Key poses: stored, named, put in order, blended by a slider or played, and saved as a file that every command reads. */

import { blended } from "../blend.js";
import type { PagePose } from "../data.js";
import { button, element, slider, tick } from "../elements.js";
import type { Slider } from "../elements.js";
import type { Panel } from "../panel.js";
import { readPoses, writePoses } from "../pose_file.js";
import type { FileSkeleton } from "../pose_file.js";
import type { Stage } from "../stage.js";
import type { Frame, Tool } from "../tool.js";

/** Seconds from one key pose to the next, and frames per second of a saved motion. */
const SECONDS = 1;
const RATE = 30;

/** The largest file of poses that is read, in bytes. */
const LARGEST_FILE = 2 ** 25;

export class KeyPoses implements Tool {
  private stage: Stage | null = null;
  private poses: PagePose[] = [];
  private readonly list = element("ol", "key-poses");
  private readonly said = element("p", "status");
  private readonly smooth = tick("smooth", () => this.blend(this.position.value));
  private readonly position: Slider = slider("blend", 0, 1, 0.01, 0, (seconds) => this.scrub(seconds), " s");
  private readonly file = element("input");
  private readonly play = button("play", "key space", () => this.togglePlay());
  private readonly blending = element("div", "row buttons");
  private readonly saving = element("div", "row buttons");

  constructor(private readonly title: string) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.said.setAttribute("role", "status");
    const head = element("div", "row buttons head");
    head.append(
      element("h2", "", "key poses"),
      button("store", "key k", () => this.store()),
      button("load", "a file of poses; it can be dropped anywhere, too", () => this.file.click()),
    );
    this.blending.append(this.play, this.smooth.row);
    this.saving.append(
      button("save poses", "the key poses as a file that posespace reads", () => this.savePoses()),
      button("save motion", `the blend in ${RATE} frames per second`, () => this.saveMotion()),
    );
    this.listenForFiles(panel);
    panel.append(head, this.list, this.position.row, this.blending, this.saving, this.said);
    panel.keys("k store pose", { k: () => this.store() });
    panel.keys("", { " ": () => this.stage?.posing.source.kind === "keys" && this.togglePlay() });
    this.show();
  }

  changed(): void {
    const posing = this.stage?.posing;
    this.play.textContent = posing?.source.kind === "keys" && posing.playing ? "pause" : "play";
  }

  update({ seconds }: Frame): void {
    const posing = this.stage?.posing;
    if (posing?.source.kind !== "keys" || !posing.playing) return;
    const position = this.position.value + seconds;
    this.position.value = Math.round(100 * (position > this.position.most ? 0 : position)) / 100;
    this.blend(this.position.value);
  }

  /** Keep the pose as it is now. */
  private store(): void {
    if (!this.stage) return;
    this.poses.push(this.stage.posing.pose(this.freeName(`pose ${this.poses.length + 1}`)));
    this.show();
  }

  /** A name that no other pose has. */
  private freeName(wanted: string, except = -1): string {
    const taken = new Set(this.poses.filter((_, k) => k !== except).map(({ name }) => name));
    let name = wanted.trim() || "pose";
    for (let k = 2; taken.has(name); k++) name = `${wanted} (${k})`;
    return name;
  }

  private show(): void {
    this.list.replaceChildren(...this.poses.map((pose, k) => this.row(pose, k)));
    this.position.row.hidden = this.blending.hidden = this.poses.length < 2;
    this.saving.hidden = !this.poses.length;
    this.position.most = Math.max(1, this.poses.length - 1) * SECONDS;
    this.said.textContent = "";
  }

  private row(pose: PagePose, index: number): HTMLElement {
    const entry = element("li");
    const name = element("input");
    Object.assign(name, { type: "text", value: pose.name, maxLength: 60 });
    name.setAttribute("aria-label", `name of key pose ${index + 1}`);
    name.addEventListener("change", () => {
      pose.name = name.value = this.freeName(name.value, index);
    });
    const up = button("↑", "move up", () => this.reorder(index, index - 1));
    const down = button("↓", "move down", () => this.reorder(index, index + 1));
    up.disabled = index === 0;
    down.disabled = index === this.poses.length - 1;
    entry.append(
      name,
      button("apply", "bring the skin into this pose", () => this.take(index)),
      button("set", "replace it by the pose on screen", () => this.set(index)),
      up,
      down,
      button("×", "delete", () => this.remove(index)),
    );
    return entry;
  }

  private take(index: number): void {
    this.position.value = index * SECONDS;
    this.stage?.posing.take(this.poses[index], { kind: "hand" });
  }

  private set(index: number): void {
    if (this.stage) this.poses[index] = this.stage.posing.pose(this.poses[index].name);
    this.show();
  }

  private reorder(from: number, to: number): void {
    this.poses.splice(to, 0, ...this.poses.splice(from, 1));
    this.show();
  }

  private remove(index: number): void {
    this.poses.splice(index, 1);
    this.show();
  }

  private scrub(seconds: number): void {
    if (this.stage) this.stage.posing.playing = false;
    this.blend(seconds);
  }

  private blend(seconds: number): void {
    if (this.poses.length) this.stage?.posing.take(this.at(seconds), { kind: "keys" });
  }

  private at(seconds: number): PagePose {
    return blended(this.poses, seconds / SECONDS, this.smooth.input.checked);
  }

  private togglePlay(): void {
    const posing = this.stage?.posing;
    if (!posing || this.poses.length < 2) return;
    posing.playing = posing.source.kind !== "keys" || !posing.playing;
    this.blend(this.position.value);
  }

  private savePoses(): void {
    this.save(writePoses(this.poses, this.skeleton(), SECONDS), "poses");
  }

  private saveMotion(): void {
    const count = Math.round((this.poses.length - 1) * SECONDS * RATE) + 1;
    const frames = Array.from({ length: count }, (_, k) => ({ ...this.at(k / RATE), name: `frame ${k + 1}` }));
    this.save(writePoses(frames, this.skeleton(), 1 / RATE), "motion");
  }

  private save(text: string, kind: string): void {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `${this.title}-${kind}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
    this.said.textContent = `saved as ${link.download}`;
  }

  /** What poses are written for. */
  private skeleton(): FileSkeleton {
    const { names = [], rests = [] } = this.stage?.posing ?? {};
    const unit = this.stage?.skins[0]?.description.unit ?? 1;
    return { names, rests: rests.flatMap(({ rotation }) => rotation.toArray() as number[]), unit };
  }

  private listenForFiles(panel: Panel): void {
    Object.assign(this.file, { type: "file", accept: ".json,application/json" });
    this.file.addEventListener("change", () => {
      this.load(this.file.files?.[0]);
      this.file.value = "";
    });
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      this.load(event.dataTransfer?.files[0]);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    panel.onDispose(() => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
    });
  }

  private async load(file: File | undefined): Promise<void> {
    if (!file) return;
    try {
      if (file.size > LARGEST_FILE) throw new Error(`expected at most ${LARGEST_FILE} bytes, got ${file.size}`);
      const poses = readPoses(await file.text(), this.skeleton());
      for (const pose of poses) this.poses.push({ ...pose, name: this.freeName(pose.name) });
      this.show();
      this.said.textContent = `${poses.length} poses of ${file.name}`;
    } catch (error) {
      this.said.textContent = `${file.name}: ${error instanceof Error ? error.message : error}`;
    }
  }
}
