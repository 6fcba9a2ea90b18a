/** Shows the skin as the edges of its triangles. */

import { tick } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Wireframe implements Tool {
  mount(stage: Stage, panel: Panel): void {
    const { row, input } = tick("wireframe", (on) => {
      for (const material of stage.materials) material.wireframe = on;
    });
    panel.append(row);
    panel.keys("w wireframe", { w: () => input.click() });
  }
}
