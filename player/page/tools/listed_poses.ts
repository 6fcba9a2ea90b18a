/** The poses that the page was exported with. */

import type { PagePose } from "../data.js";
import { menu } from "../elements.js";
import type { Menu } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";
import { isWorse } from "./heat.js";

export class ListedPoses implements Tool {
  private stage: Stage | null = null;
  private readonly menu: Menu;

  /** `ratios` are the skin's errors over those of plain skinning at the poses, where they are known. */
  constructor(
    private readonly poses: PagePose[],
    ratios: number[],
  ) {
    const names = poses.map(({ name }, k) => (isWorse(ratios[k]) ? `${name} (worse than plain skinning)` : name));
    this.menu = menu("rest pose", names, (index) => this.take(index));
  }

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.append(this.menu.list);
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
}
