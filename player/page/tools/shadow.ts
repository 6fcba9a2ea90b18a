/** Shows the ground below the skin, and its shadow there. */

import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Shadow implements Tool {
  mount(stage: Stage, panel: Panel): void {
    const { ground } = stage;
    if (!ground) return;
    const input = panel.tick("shadow", "v", (on) => {
      ground.shown = on;
    });
    input.checked = ground.shown;
  }
}
