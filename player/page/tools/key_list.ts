/** The keys of all tools, in one line at the bottom of the panel. */

import { element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class KeyList implements Tool {
  private stage: Stage | null = null;
  private readonly line = element("p", "keys for-mouse");

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.append(this.line);
  }

  changed(): void {
    // Lines break between groups of keys, not within.
    const groups = this.stage?.keys.words.map((words) => words.replaceAll(" ", "\u00a0"));
    this.line.textContent = groups?.join("\u00a0· ") ?? "";
  }
}
