/** The clips of the file: which one the timeline shows. The first one plays when the page opens. */

import { menu } from "../elements.js";
import type { Menu } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Clips implements Tool {
  private stage: Stage | null = null;
  private names: Menu | null = null;

  mount(stage: Stage, panel: Panel): void {
    const { posing } = stage;
    if (!posing.clips.length) return;
    this.stage = stage;
    const names = posing.clips.map((clip) => clip.name);
    this.names = menu("no clip", names, (index) => posing.play(index));
    panel.append(this.names.list);
    posing.play(0);
  }

  changed(): void {
    if (!this.stage || !this.names) return;
    const { source } = this.stage.posing;
    this.names.chosen = source.kind === "clip" ? source.index : -1;
  }
}
