/** One line that says what to do next. */

import { element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Project } from "../project.js";
import type { Sculpt } from "./sculpt.js";

export class FirstStep implements Tool {
  private stage: Stage | null = null;
  private readonly line = element("p", "first-step");

  constructor(
    private readonly project: Project,
    private readonly sculpt: Sculpt | null,
  ) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.append(this.line);
    panel.onDispose(this.project.onChange(() => this.changed()));
  }

  changed(): void {
    this.line.textContent = this.words();
  }

  private words(): string {
    const { info, connected, mayEdit } = this.project;
    if (!connected)
      return "The studio has ended or is busy. This page connects again by itself; all that was saved is on disk.";
    if (!info) return "Opening…";
    if (!info.editable) return `${this.posingWords()} ${info.remedy}.`;
    if (!mayEdit) return "Another page edits this project: here you can look. Close it to edit here.";
    if (this.sculpt?.active)
      return "Drag on the surface to sculpt. Name the sculpt and press ‘define’: it is saved and solved.";
    if (info.draft) return `There are unsaved strokes of ‘${info.draft.name}’: go on with them, or discard them.`;
    if (this.stage?.posing.source.kind === "rest") {
      return "To correct a pose: click a joint in the view, rotate it, then press ‘start sculpt’.";
    }
    return "Press ‘start sculpt’ to correct this pose with brushes; ‘define’ saves the result and solves.";
  }

  /** What to do with a skin that is not sculpted. */
  private posingWords(): string {
    const what = this.stage?.points.count ? "Drag a control point" : "Click a joint in the view and rotate it";
    return `${what}; ‘store’ keeps the pose as a key pose, and two of them play on the timeline.`;
  }
}
