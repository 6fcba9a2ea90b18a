/** Shows the skin as the edges of its triangles. */

import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Wireframe implements Tool {
  mount(stage: Stage, panel: Panel): void {
    panel.tick("wireframe", "w", (on) => {
      for (const material of stage.materials) material.wireframe = on;
    });
  }
}
