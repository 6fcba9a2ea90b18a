/** A button that brings the skin back to its rest pose. */

import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class RestPose implements Tool {
  mount(stage: Stage, panel: Panel): void {
    panel.button("rest pose", "r", () => stage.posing.rest());
  }
}
