/** The clips of the file: which one plays, and where in it. The first one starts with the page. */

import { button, element, menu, slider } from "../elements.js";
import type { Menu, Slider } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Frame, Tool } from "../tool.js";

export class Clips implements Tool {
  private stage: Stage | null = null;
  private names: Menu | null = null;
  private readonly pause = button("play", "key space", () => this.toggle());
  private readonly time: Slider = slider("time", 0, 1, 0.01, 0, (seconds) => this.jump(seconds), " s");

  mount(stage: Stage, panel: Panel): void {
    const { clips } = stage.posing;
    if (!clips.length) return;
    this.stage = stage;
    const names = clips.map((clip) => clip.name);
    this.names = menu("no clip", names, (index) => this.play(index));
    const row = element("div", "row");
    row.append(this.names.list, this.pause);
    panel.append(row, this.time.row);
    panel.keys("space play or pause", { " ": () => this.toggle() });
    this.play(0);
  }

  changed(): void {
    if (!this.stage || !this.names) return;
    const { source, playing } = this.stage.posing;
    const isClip = source.kind === "clip";
    this.names.chosen = isClip ? source.index : -1;
    this.pause.textContent = isClip && playing ? "pause" : "play";
    this.pause.setAttribute("aria-pressed", `${isClip && playing}`);
  }

  update({ seconds }: Frame): void {
    if (!this.stage) return;
    const { posing } = this.stage;
    posing.advance(seconds);
    this.pause.hidden = this.time.row.hidden = posing.time === null;
    if (posing.time !== null) this.time.value = Math.round(100 * posing.time) / 100;
  }

  private play(index: number): void {
    if (!this.stage) return;
    const { posing } = this.stage;
    posing.play(index);
    if (posing.duration === null) return;
    this.time.most = Math.round(100 * posing.duration) / 100;
  }

  private toggle(): void {
    const posing = this.stage?.posing;
    if (posing?.source.kind !== "clip") return;
    posing.playing = !posing.playing;
    this.stage?.notify();
  }

  private jump(seconds: number): void {
    if (!this.stage) return;
    this.stage.posing.playing = false;
    this.stage.posing.time = seconds;
  }
}
