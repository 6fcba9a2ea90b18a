/** The key poses, and the poses between them over time. */

import { blended } from "./blend.js";
import type { PagePose } from "./data.js";
import { USUAL_RATE } from "./timeline.js";
import type { Line, Mark } from "./timeline.js";

/** Seconds from one key pose to the next. */
export const KEY_SECONDS = 1;

export interface KeyPose extends PagePose {
  /** The clip that it was stored from, and where in it. */
  from?: { clip: number; seconds: number };
}

export class KeyBlend {
  readonly poses: KeyPose[] = [];
  /** Whether the poses between are on smooth curves through all. */
  smooth = false;

  /** The key poses one after another; null where there is nothing to blend. */
  get line(): Line | null {
    if (this.poses.length < 2) return null;
    const marks = this.poses.map(({ name }, k) => ({ name, seconds: k * KEY_SECONDS }));
    return { duration: (this.poses.length - 1) * KEY_SECONDS, rate: USUAL_RATE, marks };
  }

  /** The key poses that were stored from a clip. */
  marksOn(clip: number): Mark[] {
    return this.poses.flatMap(({ name, from }) => (from?.clip === clip ? [{ name, seconds: from.seconds }] : []));
  }

  /** The frames of the whole blend, `USUAL_RATE` of them a second; none where there are no key poses. */
  get frames(): PagePose[] {
    const count = this.poses.length ? Math.round((this.poses.length - 1) * KEY_SECONDS * USUAL_RATE) + 1 : 0;
    return Array.from({ length: count }, (_, k) => ({ ...this.at(k / USUAL_RATE), name: `frame ${k + 1}` }));
  }

  /** The pose at a time. */
  at(seconds: number): PagePose {
    return blended(this.poses, seconds / KEY_SECONDS, this.smooth);
  }
}
