/** What pose spaces see of a skeleton: each joint's rotation and translation relative to the joint it is linked to. */

import type { Description } from "./description.js";
import { World } from "./world.js";
import type { SceneNode } from "./world.js";

/** Of each joint its rotation (4) and translation (3), and the values of the controls. */
export interface Features {
  rotations: Float64Array;
  translations: Float64Array;
  controls: Float64Array;
}

/** Reads the nodes' local transforms, so that it does not matter who moved them, or whether matrices are up to date. */
export class Skeleton {
  readonly features: Features;
  private readonly world = new World();
  /** The index in `world` of joints that are linked elsewhere than to their parent, and of those they are linked to. */
  private readonly worldIndices: number[] = [];

  constructor(
    private readonly description: Description,
    private readonly bones: SceneNode[],
  ) {
    const { joints, controls } = description;
    this.features = {
      rotations: new Float64Array(4 * joints.length),
      translations: new Float64Array(3 * joints.length),
      controls: new Float64Array(controls.length),
    };
    joints.forEach(({ link, linkIsParent, rest }, k) => {
      this.features.rotations.set(rest, 4 * k);
      if (link < 0 || linkIsParent) return;
      for (const joint of [k, link]) this.worldIndices[joint] = this.world.add(bones[joint]);
    });
  }

  /** Write the features of the bones as they are now. */
  update(): void {
    const { rotations, translations } = this.features;
    const { joints, unit } = this.description;
    this.world.update();
    joints.forEach(({ link, linkIsParent, origin }, k) => {
      if (link < 0) return;
      if (linkIsParent) this.writeLocal(k);
      else this.world.writeRelative(this.worldIndices[k], this.worldIndices[link], rotations, translations, k);
      for (let i = 0; i < 3; i++) translations[3 * k + i] = (translations[3 * k + i] - origin[i]) / unit;
    });
  }

  private writeLocal(joint: number): void {
    const { quaternion, position } = this.bones[joint];
    const { rotations, translations } = this.features;
    rotations[4 * joint] = quaternion.x;
    rotations[4 * joint + 1] = quaternion.y;
    rotations[4 * joint + 2] = quaternion.z;
    rotations[4 * joint + 3] = quaternion.w;
    translations[3 * joint] = position.x;
    translations[3 * joint + 1] = position.y;
    translations[3 * joint + 2] = position.z;
  }
}
