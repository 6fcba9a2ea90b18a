/**
 * Inverse kinematics: joints rotate so that a place on the skin comes to where it is pulled. The solver is three.js'
 * `CCDIKSolver`: maintained with three.js, without another dependency, and it takes any chain of bones. Its own limits are
 * Euler angles; ours are angles about each joint's axes. So it makes one step of one joint at a time, and the joint is
 * brought within its limits after each. `closed-chain-ik`, which knows limits by degree of freedom, has them as Euler
 * angles too, and wants a skeleton of its own kind.
 */

import { Object3D } from "three";
import type { SkinnedMesh, Vector3 } from "three";
import { CCDIKSolver } from "three/addons/animation/CCDIKSolver.js";

import type { JointEditing } from "./joint_editing.js";

/** How often a pull goes through all joints, and by how many radians each rotates at most: all of them bend. */
const PASSES = 16;
const LARGEST_STEP = 0.08;

export class Pull {
  /** The joints that rotate, the one that holds the place first. */
  readonly joints: number[];
  private readonly target = new Object3D();
  private readonly place = new Object3D();
  private readonly solver: CCDIKSolver;

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
    const chain = { skeleton: { bones: [this.target, this.place, ...this.joints.map((number) => bones[number])] } };
    this.solver = new CCDIKSolver(chain as unknown as SkinnedMesh);
  }

  /** Pull the place towards a position of the world. */
  to(position: Vector3): void {
    this.target.position.copy(position);
    this.target.updateMatrixWorld(true);
    for (let pass = 0; pass < PASSES; pass++) {
      this.joints.forEach((joint, k) => {
        this.step(joint, k + 2);
      });
    }
  }

  /** The place is pulled no more. */
  dispose(): void {
    this.place.removeFromParent();
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
