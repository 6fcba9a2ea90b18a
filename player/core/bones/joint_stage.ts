/** The bone stage of a skeleton: its joints are the bones, and they have no amounts. */

import type { Description } from "../description.js";
import { Skeleton } from "../features.js";
import type { Features } from "../features.js";
import { multiplyMatrices, World } from "../world.js";
import type { SceneNode } from "../world.js";
import type { BoneStage } from "./stage.js";

export class JointStage implements BoneStage {
  readonly transforms: Float64Array;
  readonly amountCount = 0;
  readonly amounts = new Float64Array(0);
  readonly changed: Uint8Array;
  readonly beta = null;
  private readonly skeleton: Skeleton;
  private readonly world = new World();
  private readonly numbers: number[];
  private readonly transform = new Float64Array(12);

  /** Parameters: the nodes of the joints in their order, and the inverse bind matrix of each: 3 rows of 4. */
  constructor(
    description: Description,
    private readonly inverseBind: Float64Array,
    nodes: SceneNode[],
  ) {
    this.skeleton = new Skeleton(description, nodes);
    this.numbers = nodes.map((node) => this.world.add(node));
    this.transforms = new Float64Array(12 * nodes.length).fill(Number.NaN);
    this.changed = new Uint8Array(nodes.length);
  }

  get features(): Features {
    return this.skeleton.features;
  }

  get plainTransforms(): Float64Array {
    return this.transforms;
  }

  update(): boolean {
    const { transforms, transform, inverseBind } = this;
    this.skeleton.update();
    this.world.update();
    let changed = false;
    this.numbers.forEach((number, joint) => {
      multiplyMatrices(this.world.matrix(number), inverseBind.subarray(12 * joint, 12 * joint + 12), transform);
      changed ||= transform.some((value, k) => value !== transforms[12 * joint + k]);
      transforms.set(transform, 12 * joint);
    });
    return changed;
  }
}
