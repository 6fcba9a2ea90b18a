/** A click on the skin or on a bone selects a joint; the one below the pointer is highlighted. */

import type { Pixel } from "../drags.js";
import { jointBelow } from "../joint_below.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class JointPick implements Tool {
  mount(stage: Stage, panel: Panel): void {
    const { joints, posing, drags } = stage;
    const tap = (pixel: Pixel) => {
      joints.select(jointBelow(stage, pixel)?.joint ?? -1);
      return true;
    };
    const hover = (pixel: Pixel | null) => {
      const below = pixel && !posing.moving ? jointBelow(stage, pixel) : null;
      joints.hover(below?.joint ?? -1);
      if (!below) return null;
      return joints.drag === "pull" ? "grab" : "pointer";
    };
    panel.onDispose(drags.add({ tap, hover }));
  }
}
