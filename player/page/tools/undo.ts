/** Undo and redo of all posing by hand, whichever tool did it; and the key that lets go of a drag. */

import { button, element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Undo implements Tool {
  private stage: Stage | null = null;
  private readonly undo = button("undo pose", "key Ctrl+z", () => this.go("undo"));
  private readonly redo = button("redo pose", "key Ctrl+y", () => this.go("redo"));

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const row = element("div", "row buttons");
    row.append(this.undo, this.redo);
    panel.append(row);
    const redo = () => this.go("redo");
    panel.keys("Ctrl+z undo the pose", { "Ctrl+z": () => this.go("undo") }, true);
    panel.keys("Ctrl+y redo the pose", { "Ctrl+y": redo, "Ctrl+Shift+z": redo }, true);
    panel.keys("Esc cancel a drag", { Escape: () => stage.drags.cancel() }, true);
  }

  changed(): void {
    const posing = this.stage?.posing;
    this.undo.disabled = !posing?.canUndo;
    this.redo.disabled = !posing?.canRedo;
  }

  /** A drag that is going on is what is undone. */
  private go(where: "undo" | "redo"): void {
    if (!this.stage) return;
    const { drags, posing } = this.stage;
    if (drags.active) drags.cancel();
    else posing[where]();
  }
}
