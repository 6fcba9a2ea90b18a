/** Key poses: stored, named, put in order, blended on the timeline, and saved as a file that every command reads. */

import type { PagePose } from "../data.js";
import { download } from "../download.js";
import { button, element, tick } from "../elements.js";
import { KEY_SECONDS, KeyBlend } from "../key_blend.js";
import type { KeyPose } from "../key_blend.js";
import type { Panel } from "../panel.js";
import { readPoses, writePoses } from "../pose_file.js";
import type { FileSkeleton } from "../pose_file.js";
import type { Stage } from "../stage.js";
import { USUAL_RATE } from "../timeline.js";
import type { Tool } from "../tool.js";

/** The largest file of poses that is read, in bytes. */
const LARGEST_FILE = 2 ** 25;

export class KeyPoses implements Tool {
  private stage: Stage | null = null;
  private keys = new KeyBlend();
  private readonly list = element("ol", "key-poses");
  private readonly said = element("p", "status");
  private readonly smooth = tick("smooth", (on) => this.makeSmooth(on));
  private readonly file = element("input");
  private readonly saving = element("div", "row buttons");

  constructor(private readonly title: string) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.keys = stage.posing.keys;
    this.said.setAttribute("role", "status");
    const head = element("div", "row buttons head");
    head.append(
      element("h2", "", "key poses"),
      button("store", "key k", () => this.store()),
      button("load", "a file of poses; it can be dropped anywhere, too", () => this.file.click()),
    );
    this.saving.append(
      button("save poses", "the key poses as a file that posespace reads", () => this.savePoses()),
      button("save motion", `the blend in ${USUAL_RATE} frames per second`, () => this.saveMotion()),
    );
    this.listenForFiles(panel);
    panel.append(head, this.list, this.smooth.row, this.saving, this.said);
    panel.keys("k store pose", { k: () => this.store() });
    this.show();
  }

  private get poses(): KeyPose[] {
    return this.keys.poses;
  }

  /** Keep the pose as it is now. */
  private store(): void {
    if (!this.stage) return;
    const { posing } = this.stage;
    const pose: KeyPose = posing.pose(this.freeName(`pose ${this.poses.length + 1}`));
    if (posing.source.kind === "clip") pose.from = { clip: posing.source.index, seconds: posing.cursor };
    this.poses.push(pose);
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
    this.smooth.row.hidden = this.poses.length < 2;
    this.saving.hidden = !this.poses.length;
    this.said.textContent = "";
    this.stage?.posing.followKeys();
    this.stage?.notify();
  }

  private row(pose: PagePose, index: number): HTMLElement {
    const entry = element("li");
    const name = element("input");
    Object.assign(name, { type: "text", value: pose.name, maxLength: 60 });
    name.setAttribute("aria-label", `name of key pose ${index + 1}`);
    name.addEventListener("change", () => {
      pose.name = name.value = this.freeName(name.value, index);
      this.stage?.notify();
    });
    const up = button("↑", "move up", () => this.reorder(index, index - 1));
    const down = button("↓", "move down", () => this.reorder(index, index + 1));
    up.disabled = index === 0;
    down.disabled = index === this.poses.length - 1;
    const apply = button("apply", "bring the skin into this pose", () => this.take(index));
    const set = button("set", "replace it by the pose on screen", () => this.set(index));
    for (const wide of [apply, set]) wide.classList.add("wide");
    entry.append(
      name,
      apply,
      set,
      up,
      down,
      button("×", "delete", () => this.remove(index)),
    );
    return entry;
  }

  private take(index: number): void {
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

  private makeSmooth(on: boolean): void {
    const posing = this.stage?.posing;
    if (!posing) return;
    posing.keys.smooth = on;
    if (posing.source.kind === "keys") posing.seek(posing.cursor);
  }

  private savePoses(): void {
    this.save(writePoses(this.poses, this.skeleton(), KEY_SECONDS), "poses");
  }

  private saveMotion(): void {
    this.save(writePoses(this.keys.frames, this.skeleton(), 1 / USUAL_RATE), "motion");
  }

  private save(text: string, kind: string): void {
    const name = `${this.title}-${kind}.json`;
    download(text, name, "application/json");
    this.said.textContent = `saved as ${name}`;
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
      this.said.textContent = `loaded ${poses.length} ${poses.length === 1 ? "pose" : "poses"} from ${file.name}`;
    } catch (error) {
      this.said.textContent = `${file.name}: ${error instanceof Error ? error.message : error}`;
    }
  }
}
