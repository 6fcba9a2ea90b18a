/**
 * Inverse kinematics: joints rotate so that a place on the skin comes to where it is pulled. The solver is three.js'
 * `CCDIKSolver`: maintained with three.js, without another dependency, and it takes any chain of bones. Its own limits are
 * Euler angles; ours are angles about each joint's axes. So it makes one step of one joint at a time, and the joint is
 * brought within its limits after each. `closed-chain-ik`, which knows limits by degree of freedom, has them as Euler
 * angles too, and wants a skeleton of its own kind.
 */

import { Object3D, Plane, Vector3 } from "three";
import type { Ray, SkinnedMesh } from "three";
import { CCDIKSolver } from "three/addons/animation/CCDIKSolver.js";

import type { JointEditing } from "./joint_editing.js";

/** How often the depth of the target is brought to what the place can reach. */
const ROUNDS = 3;

/** How often a pull goes through all joints, and by how many radians each rotates at most: all of them bend. */
const PASSES = 16;
const LARGEST_STEP = 0.08;

/** A place farther from below the pointer than this part of the chain's length is stuck, or cannot get there. */
const CLOSE = 0.02;

/** A place this near to below the pointer, in the same parts, is there. */
const EXACT = 0.001;

/** Another way must bring the place this much closer. */
const BETTER = 0.6;

export class Pull {
  /** The joints that rotate, the one that holds the place first. */
  readonly joints: number[];
  private readonly target = new Object3D();
  private readonly place = new Object3D();
  private readonly solver: CCDIKSolver;
  private readonly reach: number;

  /** Parameters: a place on the skin, in the world; the joint it goes with; how many joints follow (`JointTree.chain`). */
  constructor(
    private readonly editing: JointEditing,
    joint: number,
    position: Vector3,
    length: number,
  ) {
    const { tree, bones } = editing;
    this.joints = tree.chain(joint, length).filter((number) => editing.anglesOf(number).free);
    bones[joint].updateWorldMatrix(true, false);
    this.place.position.copy(bones[joint].worldToLocal(position.clone()));
    bones[joint].add(this.place);
    this.place.updateMatrixWorld(true);
    const last = bones[this.joints.at(-1) ?? joint];
    this.reach = last.getWorldPosition(new Vector3()).distanceTo(position);
    const chain = { skeleton: { bones: [this.target, this.place, ...this.joints.map((number) => bones[number])] } };
    this.solver = new CCDIKSolver(chain as unknown as SkinnedMesh);
  }

  /**
   * Pull the place to below the pointer: to where a ray from the camera, which looks along a direction, has the depth of
   * the place. The depth changes only where the place cannot get there otherwise.
   */
  to(ray: Ray, direction: Vector3): void {
    this.solve(ray, direction);
    const gap = this.gap(ray);
    if (gap <= CLOSE * this.reach) return;
    // A finger that is straight, or bent back, is stuck: towards its own knuckle it folds only if it has begun to.
    const before = this.joints.map((joint) => this.editing.measure(joint));
    this.bring(this.joints.map((joint, k) => this.editing.anglesOf(joint).middle ?? before[k]));
    this.solve(ray, direction);
    if (this.gap(ray) > BETTER * gap) this.bring(before);
  }

  /** The place is pulled no more. */
  dispose(): void {
    this.place.removeFromParent();
  }

  private solve(ray: Ray, direction: Vector3): void {
    for (let round = 0; round < ROUNDS && this.gap(ray) > EXACT * this.reach; round++) {
      const plane = new Plane().setFromNormalAndCoplanarPoint(direction, this.position);
      if (!ray.intersectPlane(plane, this.target.position)) return;
      this.target.updateMatrixWorld(true);
      for (let pass = 0; pass < PASSES; pass++) {
        this.joints.forEach((joint, k) => {
          this.step(joint, k + 2);
        });
      }
    }
  }

  /** Where the place is, in the world. */
  private get position(): Vector3 {
    return this.place.getWorldPosition(new Vector3());
  }

  /** How far the place is from below the pointer. */
  private gap(ray: Ray): number {
    return ray.distanceToPoint(this.position);
  }

  /** Bring all joints to some angles; those above first, as they carry what is linked to them. */
  private bring(angles: readonly number[][]): void {
    for (let k = this.joints.length - 1; k >= 0; k--) this.editing.rotate(this.joints[k], angles[k]);
  }

  /** Rotate one joint towards the target, within its limits. */
  private step(joint: number, index: number): void {
    const { quaternion } = this.editing.bones[joint];
    const angles = this.editing.anglesOf(joint);
    const before = quaternion.clone();
    const near = angles.of(before);
    this.solver.updateOne({ target: 0, effector: 1, links: [{ index }], maxAngle: LARGEST_STEP });
    const after = angles.of(quaternion, near);
    quaternion.copy(before);
    this.editing.rotate(joint, after);
  }
}
