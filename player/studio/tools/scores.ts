/** The errors of the current skin at the sculpts, the worst first: each line goes to its pose. */

import { button, element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import { isWorse } from "../../page/tools/heat.js";
import { chooseSculpt } from "../choose_sculpt.js";
import type { Project } from "../project.js";

interface Score {
  name: string;
  /** The root mean square of the distances. */
  error: number;
  /** Over that of plain skinning; null where that has none. */
  ratio: number | null;
}

const MOST = 12;

/** Millimetres below which an error is rounding. */
const NONE = 1e-3;

export class Scores implements Tool {
  private stage: Stage | null = null;
  private readonly list = element("ol", "scores");

  constructor(private readonly project: Project) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const measure = button("errors at the sculpts", "how far the skin is from each, the worst first", () =>
      this.read(),
    );
    const row = element("div", "row buttons");
    row.append(measure);
    panel.append(row, this.list);
    this.list.hidden = true;
    // What was measured is of the skin before.
    panel.onDispose(
      this.project.link.on("skin", () => {
        this.list.hidden = true;
      }),
    );
  }

  private async read(): Promise<void> {
    const answer = await this.project.do("scores");
    if (!answer) return;
    const scores = answer.ok.scores as Score[];
    this.list.replaceChildren(...scores.slice(0, MOST).map((score) => this.entry(score, String(answer.ok.unit))));
    this.list.hidden = !scores.length;
  }

  private entry({ name, error, ratio }: Score, unit: string): HTMLElement {
    const entry = element("li");
    const share = ratio === null || error < NONE ? "" : ` · ${ratio.toPrecision(2)} of plain skinning`;
    const words = error < NONE ? "exact" : `${error.toPrecision(2)} ${unit}${share}`;
    entry.append(
      button(name, "go to its pose", () => this.go(name)),
      element("span", error >= NONE && isWorse(ratio ?? 0) ? "worse" : "", words),
    );
    return entry;
  }

  private go(name: string): void {
    if (this.stage) chooseSculpt(this.project, this.stage, name);
  }
}
