/** What pose spaces see of a skeleton: each joint's rotation and shift relative to the joint it is linked to. */

import { Matrix4, Quaternion, Vector3 } from "three";
import type { Object3D } from "three";

import type { Description } from "./description.js";
import type { Features } from "./drive.js";

/** Marks the object above a skeleton: what it and those above it do is no pose. Clones keep the mark. */
export const TOP = "posespaceTop";

const turn = new Quaternion();
const place = new Vector3();
const matrix = new Matrix4();

/** Reads the joints' own transforms, so that it does not matter who moved them, or whether matrices are up to date. */
export class Skeleton {
  readonly features: Features;
  private readonly chains: Object3D[][];

  constructor(
    private readonly description: Description,
    readonly bones: Object3D[],
  ) {
    const { joints, controls } = description;
    this.features = {
      turns: new Float64Array(4 * joints.length),
      shifts: new Float64Array(3 * joints.length),
      controls: new Float64Array(controls.length),
    };
    this.chains = bones.map(chainOf);
    joints.forEach((joint, k) => this.features.turns.set(joint.rest, 4 * k));
  }

  /** Write the features of the bones as they are now. */
  update(): void {
    const { turns, shifts } = this.features;
    const { unit } = this.description;
    this.description.joints.forEach(({ link, own, origin }, k) => {
      if (link < 0) return;
      const bone = this.bones[k];
      if (own) {
        turn.copy(bone.quaternion);
        place.copy(bone.position);
      } else {
        seenFrom(this.chains[k], this.chains[link]);
      }
      turns.set([turn.x, turn.y, turn.z, turn.w], 4 * k);
      place.toArray().forEach((value, i) => (shifts[3 * k + i] = (value - origin[i]) / unit));
    });
  }
}

/** Write to `turn` and `place` how a bone is turned and where it is, seen from another; scale does not turn. */
function seenFrom(own: Object3D[], link: Object3D[]): void {
  const back = orientation(link).invert();
  turn.copy(back).multiply(orientation(own));
  place.copy(position(own)).sub(position(link)).applyQuaternion(back);
}

/** A bone and all that is above it in the file, from the top down to the bone. */
function chainOf(bone: Object3D): Object3D[] {
  const chain: Object3D[] = [];
  for (let each: Object3D | null = bone; each && !each.userData[TOP]; each = each.parent) chain.push(each);
  return chain.reverse();
}

function orientation(chain: Object3D[]): Quaternion {
  return chain.reduce((all, each) => all.multiply(each.quaternion), new Quaternion());
}

function position(chain: Object3D[]): Vector3 {
  const all = new Matrix4();
  for (const each of chain) all.multiply(matrix.compose(each.position, each.quaternion, each.scale));
  return new Vector3().setFromMatrixPosition(all);
}
