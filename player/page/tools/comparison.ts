/** Buttons for the ways to compare the skin with plain skinning: either alone, side by side, one over the other. */

import { choice } from "../elements.js";
import type { Panel } from "../panel.js";
import { VIEWS } from "../stage.js";
import type { Stage, View } from "../stage.js";
import type { Tool } from "../tool.js";

export class Comparison implements Tool {
  private stage: Stage | null = null;
  private readonly buttons = choice(VIEWS, "skin", (view) => this.look(view));

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.append(this.buttons.row);
    const presses = VIEWS.map((view, k) => [`${k + 1}`, () => this.look(view)] as const);
    panel.keys(`1 to ${VIEWS.length} view`, Object.fromEntries(presses));
  }

  changed(): void {
    if (!this.stage) return;
    this.buttons.press(this.stage.view);
    document.body.dataset.view = this.stage.view;
  }

  private look(view: View): void {
    if (this.stage) this.stage.view = view;
  }
}
