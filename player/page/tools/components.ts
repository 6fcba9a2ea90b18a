/** A slider for how many components of each layer are shown. */

import { slider } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Components implements Tool {
  mount({ skins: [skin] }: Stage, panel: Panel): void {
    const most = Math.max(0, ...skin.description.componentOf) + 1;
    const shown = slider("components", 0, most, 1, most, (count) => {
      skin.components = count;
    });
    panel.append(shown.row);
  }
}
