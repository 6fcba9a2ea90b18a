/** A slider for how many components of each layer are shown. */

import { slider } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Components implements Tool {
  mount({ skins }: Stage, panel: Panel): void {
    const most = Math.max(0, ...skins[0].description.componentOf) + 1;
    const shown = slider("components", 0, most, 1, most, (count) => {
      skins[0].components = count;
    });
    panel.append(shown.row);
  }
}
