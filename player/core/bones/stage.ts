/** The bone stage: what turns a pose into transforms of bones, and their amounts of corrections and detail. */

import type { Features } from "../features.js";

export interface BoneStage {
  /** What pose spaces see of the pose. */
  readonly features: Features;
  /** The transform of each bone, rest to posed: 3 rows of 4. */
  readonly transforms: Float64Array;
  /** How many amounts each bone has, and these: of corrections, then of components of the detail. */
  readonly amountCount: number;
  readonly amounts: Float64Array;
  /** Of each bone, 1 where its amounts changed in the last update that changed anything. */
  readonly changed: Uint8Array;
  /** The transform of each joint, for plain skinning: 3 rows of 4. */
  readonly plainTransforms: Float64Array;
  /** The weight of control points in the solve for the bones' positions; null where there are none. */
  beta: number | null;
  /** Follow the pose; returns whether anything changed. */
  update(): boolean;
}
