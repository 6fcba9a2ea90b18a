/** The timeline across the bottom of the picture: play and pause, time and frame, and where key poses are. */

import { button, element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import { frameAt, lastFrame, timeOf } from "../timeline.js";
import type { Line } from "../timeline.js";
import type { Frame, Tool } from "../tool.js";

export class Timeline implements Tool {
  private stage: Stage | null = null;
  private readonly bar = element("div");
  private readonly play = button("play", "key space", () => this.stage?.posing.togglePlay());
  private readonly track = element("div", "track");
  private readonly frames = element("input");
  private readonly marks = element("div", "marks");
  private readonly time = element("span");
  private readonly frame = element("span");
  /** The marks that are there, in words. */
  private shownMarks = "";

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.bar.id = "timeline";
    this.bar.setAttribute("role", "group");
    this.bar.setAttribute("aria-label", "timeline");
    Object.assign(this.frames, { type: "range", min: "0", step: "1" });
    this.frames.setAttribute("aria-label", "frame");
    this.frames.addEventListener("input", () => this.goTo(Number(this.frames.value)));
    this.track.append(this.marks, this.frames);
    const back = button("‹", "a frame back: key left", () => this.step(-1));
    const on = button("›", "a frame on: key right", () => this.step(1));
    const said = element("output");
    said.append(this.time, " · ", this.frame);
    this.bar.append(back, this.play, on, this.track, said);
    stage.renderer.domElement.after(this.bar);
    panel.keys("space play or pause", { " ": () => stage.posing.line && stage.posing.togglePlay() });
    // Where a control point is selected, the arrows move it.
    const stepByKey = (by: number) => () => stage.points.selected < 0 && this.step(by);
    panel.keys("← → step by a frame", { ArrowLeft: stepByKey(-1), ArrowRight: stepByKey(1) });
  }

  changed(): void {
    const posing = this.stage?.posing;
    const line = posing?.line ?? null;
    this.bar.hidden = !line;
    if (!posing || !line) return;
    this.frames.max = `${lastFrame(line)}`;
    this.play.textContent = posing.moving ? "pause" : "play";
    this.showMarks(line);
    this.showTime(line, posing.cursor);
  }

  update({ seconds }: Frame): void {
    const posing = this.stage?.posing;
    if (!posing?.moving) return;
    posing.advance(seconds);
    if (posing.line) this.showTime(posing.line, posing.cursor);
  }

  dispose(): void {
    this.bar.remove();
  }

  private goTo(frame: number): void {
    const posing = this.stage?.posing;
    if (posing?.line) posing.seek(timeOf(posing.line, frame));
  }

  private step(by: number): void {
    const posing = this.stage?.posing;
    if (posing?.line) this.goTo(frameAt(posing.line, posing.cursor) + by);
  }

  private showTime(line: Line, seconds: number): void {
    const frame = frameAt(line, seconds);
    this.frames.value = `${frame}`;
    this.time.textContent = `${seconds.toFixed(2)} s`;
    this.frame.textContent = `frame ${frame} of ${lastFrame(line)}`;
  }

  private showMarks(line: Line): void {
    const shown = JSON.stringify([line.duration, line.marks]);
    if (shown === this.shownMarks) return;
    this.shownMarks = shown;
    this.marks.replaceChildren(
      ...line.marks.map(({ name, seconds }) => {
        const mark = button("", name, () => this.stage?.posing.seek(seconds));
        mark.setAttribute("aria-label", `key pose ${name}`);
        mark.style.left = `${(100 * seconds) / (line.duration || 1)}%`;
        return mark;
      }),
    );
  }
}
