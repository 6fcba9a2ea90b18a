/** Dragging the control points by mouse, pen or finger. A drag that begins beside all handles is the camera's. */

import { DragMotion } from "../drag_motion.js";
import { kindOf } from "../drags.js";
import type { Grip, Pixel } from "../drags.js";
import type { Panel } from "../panel.js";
import type { Drag } from "../point_editing.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** How near to a handle a drag begins, in pixels. */
const NEAR = { mouse: 12, touch: 24 };

/** The longest time between two taps that are a double one, in milliseconds. */
const DOUBLE = 400;

export class PointDrag implements Tool {
  private lastTap = { point: -1, time: 0 };

  mount(stage: Stage, panel: Panel): void {
    const { points, drags } = stage;
    const grab = ({ x, y }: Pixel, event: PointerEvent) => {
      const point = points.shown ? points.nearest(x, y, NEAR[kindOf(event)]) : -1;
      return point < 0 ? null : this.hold(stage, point, { x, y }, event);
    };
    const hover = (pixel: Pixel | null) => {
      points.hovered = pixel && points.shown ? points.nearest(pixel.x, pixel.y, NEAR.mouse) : -1;
      return points.hovered >= 0 ? "grab" : null;
    };
    panel.onDispose(drags.add({ grab, hover }));
  }

  private hold({ points, posing, picture }: Stage, point: number, { x, y }: Pixel, event: PointerEvent): Grip {
    const motion = new DragMotion(picture, points.position(point), points.normal(point), x, y);
    const drag = dragOf(event, points.drag);
    points.select(point);
    return {
      begin: () => points.begin(),
      move: (pixel) => points.move(drag, point, motion, pixel.x, pixel.y),
      end: () => {
        this.lastTap.point = -1;
        posing.end();
      },
      cancel: () => posing.cancel(),
      tap: ({ timeStamp }) => {
        if (this.lastTap.point === point && timeStamp - this.lastTap.time < DOUBLE) points.reset([point]);
        this.lastTap = { point, time: timeStamp };
      },
    };
  }
}

/**
 * What a drag moves, by the keys that are held with it. Either of Ctrl, Alt and the command key will do: some systems
 * keep a drag with one of them for themselves.
 */
function dragOf({ shiftKey, ctrlKey, altKey, metaKey }: PointerEvent, usual: Drag): Drag {
  if (ctrlKey || altKey || metaKey) return shiftKey ? "rotate" : "whole";
  return shiftKey ? "normal" : usual;
}
