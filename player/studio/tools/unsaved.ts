/** Strokes that were not defined when the studio ended: go on with them, or discard them. */

import type { PagePose } from "../../page/data.js";
import { button, element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Project } from "../project.js";
import type { Sculpt } from "./sculpt.js";

export class Unsaved implements Tool {
  private stage: Stage | null = null;
  private readonly row = element("div", "row buttons");

  constructor(
    private readonly project: Project,
    private readonly sculpt: Sculpt,
  ) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.row.append(
      button("go on with the strokes", "at the pose at which they were made", () => this.resume()),
      button("discard them", "they are lost", () => this.discard()),
    );
    panel.append(this.row);
    panel.onDispose(this.project.onChange(() => this.changed()));
  }

  changed(): void {
    // While one sculpts the draft is that of the strokes on the screen.
    this.row.hidden = !this.project.info?.draft || !this.project.mayEdit || this.sculpt.active;
  }

  private async resume(): Promise<void> {
    const answer = await this.project.do("take_draft");
    if (!answer) return;
    const name = String(answer.ok.name);
    this.stage?.posing.take({ ...(answer.ok.pose as Omit<PagePose, "name">), name }, { kind: "hand" });
    await this.sculpt.start(name, Float32Array.from(answer.arrays.points));
  }

  private async discard(): Promise<void> {
    await this.project.do("draft");
  }
}
