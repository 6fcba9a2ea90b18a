/** Shows the skin in one neutral material, which tells more of its form than the file's own. */

import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Clay implements Tool {
  mount(stage: Stage, panel: Panel): void {
    panel.tick("clay", "m", (on) => {
      stage.looks.clay = on;
    });
  }
}
