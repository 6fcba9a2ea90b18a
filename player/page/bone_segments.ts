/** The bones between joints: from each joint to those below it, and at the ends of chains on into the skin. */

import { Matrix4, Vector3 } from "three";
import type { Object3D } from "three";

import type { JointTree } from "./joint_tree.js";

/** A bone at the end of a chain is this part of the one above it. */
const LAST = 0.6;

/** A bone: the joint that rotates it, and where it ends, in the axes of this joint. */
export interface Segment {
  joint: number;
  end: Vector3;
}

/**
 * The bones of a skeleton as it is posed now; they keep their ends at any other pose. A joint is left out that moves no
 * skin, nor has one below it that does, such as the controls that animators' rigs have.
 */
export function segmentsOf(tree: JointTree, bones: readonly Object3D[], skinned: ReadonlySet<number>): Segment[] {
  for (const bone of bones) bone.updateWorldMatrix(true, false);
  const inverses = bones.map(({ matrixWorld }) => new Matrix4().copy(matrixWorld).invert());
  const from = (joint: number, other: number) =>
    new Vector3().setFromMatrixPosition(bones[other].matrixWorld).applyMatrix4(inverses[joint]);
  const used = new Set([...skinned].flatMap((joint) => [joint, ...tree.above(joint)]));
  const drawn = tree.order.filter((joint) => used.has(joint));
  return drawn.flatMap((joint) => {
    const children = tree.children[joint].filter((child) => used.has(child));
    const ends = children.map((child) => from(joint, child));
    const parent = tree.parents[joint];
    if (!ends.length && parent >= 0) ends.push(from(joint, parent).multiplyScalar(-LAST));
    return ends.filter((end) => end.length() > 0).map((end) => ({ joint, end }));
  });
}

/** Where a bone begins and ends, in the world. */
export function endsOf({ joint, end }: Segment, bones: readonly Object3D[]): [Vector3, Vector3] {
  const { matrixWorld } = bones[joint];
  return [new Vector3().setFromMatrixPosition(matrixWorld), end.clone().applyMatrix4(matrixWorld)];
}

/** How far a position is from the line between two others. */
export function distanceToLine(position: Vector3, from: Vector3, to: Vector3): number {
  const along = to.clone().sub(from);
  const share = position.clone().sub(from).dot(along) / (along.lengthSq() || 1);
  return along
    .multiplyScalar(Math.min(1, Math.max(0, share)))
    .add(from)
    .distanceTo(position);
}
