/** The poses that the page was exported with; where their errors are known, by the largest error first if that is wanted. */

import type { PageErrors, PagePose } from "../data.js";
import { button, element, menu } from "../elements.js";
import type { Menu } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";
import { isWorse } from "./heat.js";

export class ListedPoses implements Tool {
  private stage: Stage | null = null;
  private readonly menu: Menu;
  /** The numbers of the poses in the order of the list. */
  private order: number[];
  private readonly sorting = button("worst first", "the poses with the largest errors first; key o", () => this.sort());

  constructor(
    private readonly poses: PagePose[],
    private readonly errors: PageErrors | null,
  ) {
    this.order = [...poses.keys()];
    const names = poses.map(({ name }, k) => name + errorOf(errors, k));
    this.menu = menu("rest pose", names, (index) => this.take(index));
    this.sorting.setAttribute("aria-pressed", "false");
  }

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const row = element("div", "row listed");
    row.append(this.menu.list);
    panel.append(row);
    panel.keys("[ ] pose before, after", { "[": () => this.step(-1), "]": () => this.step(1) });
    if (!this.errors) return;
    row.append(this.sorting);
    panel.keys("o worst first", { o: () => this.sort() });
  }

  changed(): void {
    if (!this.stage) return;
    const { source } = this.stage.posing;
    if (source.kind === "clip") this.menu.say("playing a clip");
    else if (source.kind === "keys") this.menu.say("key poses");
    else if (source.kind === "hand") this.menu.say("posed by hand");
    else this.menu.chosen = source.kind === "listed" ? source.index : -1;
  }

  private take(index: number): void {
    const pose = this.poses[index];
    if (pose) this.stage?.posing.take(pose, { kind: "listed", index });
    else this.stage?.posing.rest();
  }

  /** Take the pose before or after the one that is shown, in the order of the list. */
  private step(by: number): void {
    const source = this.stage?.posing.source;
    const last = this.poses.length - 1;
    const at = source?.kind === "listed" ? this.order.indexOf(source.index) + by : by > 0 ? 0 : last;
    this.take(this.order[Math.min(last, Math.max(0, at))]);
  }

  /** Sort the poses by their errors, or as they were; sorted, the worst one is shown. */
  private sort(): void {
    const { rms = [] } = this.errors ?? {};
    const isWanted = this.sorting.getAttribute("aria-pressed") === "false";
    this.sorting.setAttribute("aria-pressed", `${isWanted}`);
    this.order = [...this.poses.keys()];
    if (isWanted) this.order.sort((a, b) => rms[b] - rms[a]);
    this.menu.order(this.order);
    if (isWanted) this.take(this.order[0]);
  }
}

/** What the list says of the error at a pose. */
function errorOf(errors: PageErrors | null, pose: number): string {
  if (!errors) return "";
  const error = ` · ${errors.rms[pose].toPrecision(2)} ${errors.unit}`;
  return isWorse(errors.ratios[pose]) ? `${error} (worse than plain skinning)` : error;
}
