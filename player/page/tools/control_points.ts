/** Says what a page can do with a skin that control points move. */

import { element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

const MOVING =
  "Control points move this skin. They cannot be dragged here: the page plays the clips that it was exported with.";
const STILL =
  "Control points move this skin. They cannot be dragged here, and the page was exported without a motion, so it shows " +
  "the rest pose. To see it move, export it with a motion, as a page or as glTF for other programs:";
const WITH_MOTION = "posespace export SKIN -o OUT.glb \\\n  --motion FILE";

export class ControlPoints implements Tool {
  mount(stage: Stage, panel: Panel): void {
    if (stage.posing.clips.length) panel.append(element("p", "points", MOVING));
    else panel.append(element("p", "points", STILL), element("code", "", WITH_MOTION));
  }
}
