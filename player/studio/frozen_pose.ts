/** Keeps the skin at one pose while it is sculpted, whatever tries to move it. */

import type { PagePose } from "../page/data.js";
import type { Stage } from "../page/stage.js";

/** What rounding may change when a pose is taken. */
const SAME = 1e-6;

export class FrozenPose {
  readonly pose: PagePose;

  constructor(private readonly stage: Stage) {
    stage.posing.playing = false;
    this.pose = stage.posing.pose("sculpted");
  }

  /** Take the pose again if something has changed it; returns whether something had. */
  keep(): boolean {
    const { posing } = this.stage;
    posing.playing = false;
    const now = posing.pose("now");
    const same =
      now.joints.every((value, k) => Math.abs(value - this.pose.joints[k]) < SAME) &&
      Object.entries(now.controls).every(([name, value]) => value === this.pose.controls[name]);
    if (!same) posing.put(this.pose, { kind: "hand" });
    return !same;
  }
}

/** The pose at which every joint rests. */
export function restPose({ posing, skins }: Stage): PagePose {
  const rotations = posing.rests.flatMap(({ rotation }) => rotation.toArray() as number[]);
  const translations = posing.rests.flatMap(() => [0, 0, 0]);
  const controls = Object.fromEntries(Object.keys(skins[0]?.controls ?? {}).map((name) => [name, 0]));
  return { name: "rest", joints: [...rotations, ...translations], controls };
}
