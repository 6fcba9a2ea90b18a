/** What pose spaces see of a skeleton: each joint's rotation and shift relative to the joint it is linked to. */

import { Matrix4, Quaternion, Vector3 } from "three";
import type { Object3D } from "three";

import type { Description } from "./description.js";
import type { Features } from "./drive.js";

/** Marks the object above a skeleton: what it and those above it do is no pose. Clones keep the mark. */
export const TOP = "posespaceTop";

const turn = new Quaternion();
const back = new Quaternion();
const place = new Vector3();
const away = new Vector3();

/** Reads the joints' own transforms, so that it does not matter who moved them, or whether matrices are up to date. */
export class Skeleton {
  readonly features: Features;
  private readonly world = new World();
  /** Of each joint, its number in `world`; only joints that are linked elsewhere, and those they are linked to, have one. */
  private readonly numbers: number[] = [];

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
    joints.forEach(({ link, own, rest }, k) => {
      this.features.turns.set(rest, 4 * k);
      if (link < 0 || own) return;
      for (const joint of [k, link]) this.numbers[joint] = this.world.add(bones[joint]);
    });
  }

  /** Write the features of the bones as they are now. */
  update(): void {
    const { turns, shifts } = this.features;
    const { unit } = this.description;
    this.world.update();
    this.description.joints.forEach(({ link, own, origin }, k) => {
      if (link < 0) return;
      const bone = this.bones[k];
      if (own) {
        turn.copy(bone.quaternion);
        place.copy(bone.position);
      } else {
        this.world.see(this.numbers[k], this.numbers[link]);
      }
      turns.set([turn.x, turn.y, turn.z, turn.w], 4 * k);
      place.toArray().forEach((value, i) => (shifts[3 * k + i] = (value - origin[i]) / unit));
    });
  }
}

/** Rotations and matrices of bones and of all that is above them in the file; each is computed once, however many share it. */
class World {
  /** Those above come first. */
  private readonly objects: Object3D[] = [];
  private readonly above: number[] = [];
  private readonly turns: Quaternion[] = [];
  private readonly matrices: Matrix4[] = [];
  private readonly numbers = new Map<Object3D, number>();

  /** Return the number of a bone, which is new if it was not asked for before. */
  add(bone: Object3D): number {
    const chain: Object3D[] = [];
    let top: Object3D | null = bone;
    for (; top && !top.userData[TOP] && !this.numbers.has(top); top = top.parent) chain.push(top);
    let number = (top && this.numbers.get(top)) ?? -1;
    for (const object of chain.reverse()) {
      this.above.push(number);
      number = this.objects.push(object) - 1;
      this.numbers.set(object, number);
      this.turns.push(new Quaternion());
      this.matrices.push(new Matrix4());
    }
    return number;
  }

  /** Compute all as they are now; scale does not turn. */
  update(): void {
    this.objects.forEach(({ position, quaternion, scale }, k) => {
      const above = this.above[k];
      this.turns[k].copy(quaternion);
      this.matrices[k].compose(position, quaternion, scale);
      if (above < 0) return;
      this.turns[k].premultiply(this.turns[above]);
      this.matrices[k].premultiply(this.matrices[above]);
    });
  }

  /** Write to `turn` and `place` how a bone is turned and where it is, seen from another. */
  see(bone: number, from: number): void {
    back.copy(this.turns[from]).invert();
    turn.multiplyQuaternions(back, this.turns[bone]);
    away.setFromMatrixPosition(this.matrices[from]);
    place.setFromMatrixPosition(this.matrices[bone]).sub(away).applyQuaternion(back);
  }
}
