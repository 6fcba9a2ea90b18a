/**
 * A tool is a part of the page that can be read, tested and left out by itself: the camera, sliders for the joints, a
 * time line. `stage.add(new Wireframe())` puts one onto a page, `stage.remove(tool)` takes it away. Tools do not know
 * one another: they change the stage, and see there what others have changed.
 */

import type { Source } from "./comparison.js";
import type { Panel } from "./panel.js";
import type { Stage } from "./stage.js";

/** A picture that is about to be drawn. */
export interface Frame {
  /** Time since the one before, in seconds. */
  seconds: number;
}

export interface Tool {
  /** Make its elements, buttons and keys on the panel. Called once, when the skin is loaded. */
  mount(stage: Stage, panel: Panel): void;
  /** Something that tools share has changed: what is compared, or what poses the skin. Called after mounting, too. */
  changed?(): void;
  /** A frame is about to be drawn. */
  update?(frame: Frame): void;
  /** A source is about to be drawn, such as plain skinning; a frame that compares draws two. */
  beforeDraw?(source: Source): void;
  /** A frame has been drawn. */
  afterDraw?(): void;
  /** Give back what is not on the panel, which is cleared without its help. */
  dispose?(): void;
}
