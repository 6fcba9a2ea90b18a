/** The joints as the page edits them: which one is selected, how it rotates within its limits, and what goes with it. */

import { Matrix4, Vector3 } from "three";
import type { Object3D } from "three";

import type { Joint } from "../core/description.js";
import type { PoseSkin } from "../three/index.js";
import { segmentsOf } from "./bone_segments.js";
import type { Segment } from "./bone_segments.js";
import { JointAngles } from "./joint_angles.js";
import { JointTree } from "./joint_tree.js";
import { nameOf } from "./posing.js";
import type { Posing } from "./posing.js";

export const JOINT_DRAGS = ["rotate", "pull"] as const;
/** What a drag does: rotate the selected joint by its rings, or pull the skin, which joints above follow. */
export type JointDrag = (typeof JOINT_DRAGS)[number];

export class JointEditing {
  /** The numbers of the joints that are selected and below the pointer; -1: none. */
  selected = -1;
  hovered = -1;
  readonly tree: JointTree;
  readonly bones: readonly Object3D[];
  /** The bones, with which a picture of the skeleton is drawn. */
  readonly segments: readonly Segment[];
  /** Whether all bones are drawn, or only those that are selected and below the pointer. */
  allShown = false;
  /** How many joints follow a pull; 0: those up to the next branch of the skeleton. */
  pullLength = 0;
  private shownDrag: JointDrag = "rotate";
  private readonly angles: JointAngles[];
  /** Of each joint, those that go with it though no bone of the file does it. */
  private readonly carried: number[][];

  /** Parameters: the skin, and the numbers of the joints that move it. */
  constructor(
    skin: PoseSkin | null,
    skinned: ReadonlySet<number>,
    private readonly posing: Posing,
    private readonly changed: () => void,
  ) {
    const joints = skin?.description.joints ?? [];
    this.bones = skin?.bones ?? [];
    const names = this.bones.map((bone, joint) => nameOf(bone) || `joint ${joint}`);
    this.tree = new JointTree(names, parentsOf(joints, this.bones));
    this.angles = joints.map((joint, k) => new JointAngles(joint, posing.rests[k].rotation));
    this.carried = joints.map((_, joint) => carriedBy(joint, this.tree, this.bones));
    this.segments = segmentsOf(this.tree, this.bones, skinned);
  }

  get drag(): JointDrag {
    return this.shownDrag;
  }

  set drag(drag: JointDrag) {
    this.shownDrag = drag;
    this.changed();
  }

  select(joint: number): void {
    this.selected = joint;
    this.changed();
  }

  hover(joint: number): void {
    if (joint === this.hovered) return;
    this.hovered = joint;
    this.changed();
  }

  /** The axes, limits and angles of a joint. */
  anglesOf(joint: number): JointAngles {
    return this.angles[joint];
  }

  /** A joint's angles as they are now, from rest. */
  measure(joint: number): number[] {
    return this.angles[joint].of(this.bones[joint].quaternion);
  }

  /** The position of a joint, in the world. */
  position(joint: number): Vector3 {
    return this.bones[joint].getWorldPosition(new Vector3());
  }

  /** Begin to move joints by hand; `end` and `cancel` of the posing keep that or do not. */
  begin(): void {
    this.posing.begin();
    this.posing.hold();
  }

  /** Rotate a joint to angles from rest, brought within its limits, and all that is linked to it with it. */
  rotate(joint: number, angles: readonly number[]): void {
    const bone = this.bones[joint];
    const carried = this.carried[joint].map((number) => this.bones[number]);
    for (const moved of [bone, ...carried]) moved.updateWorldMatrix(true, false);
    const before = bone.matrixWorld.clone().invert();
    bone.quaternion.copy(this.angles[joint].rotation(this.angles[joint].clamped(angles)));
    bone.updateMatrixWorld(true);
    const motion = bone.matrixWorld.clone().multiply(before);
    for (const other of carried) carry(other, motion);
  }

  /** Tell tools that joints have moved. */
  moved(): void {
    this.changed();
  }

  /** Bring a joint back to rest. */
  reset(joint: number): void {
    this.posing.edit(() => {
      this.begin();
      this.rotate(joint, [0, 0, 0]);
    });
    this.changed();
  }
}

/** The joint that each one goes with: the one it is linked to, else the one above it in the file; -1: none. */
function parentsOf(joints: readonly Joint[], bones: readonly Object3D[]): number[] {
  const numbers = new Map(bones.map((bone, joint) => [bone, joint]));
  return joints.map(({ link, linkIsParent }, joint) => {
    if (link >= 0 && !linkIsParent) return link;
    return jointAbove(bones[joint], numbers);
  });
}

function jointAbove(bone: Object3D, numbers: ReadonlyMap<Object3D, number>): number {
  for (let above = bone.parent; above; above = above.parent) {
    const number = numbers.get(above);
    if (number !== undefined) return number;
  }
  return -1;
}

/** The joints linked below one that have neither it nor one of themselves above them in the file. */
function carriedBy(joint: number, tree: JointTree, bones: readonly Object3D[]): number[] {
  const below = tree.below(joint);
  const moving = new Map([joint, ...below].map((number) => [bones[number], number]));
  return below.filter((number) => jointAbove(bones[number], moving) < 0);
}

/** Move a bone by a motion of the world. */
function carry(bone: Object3D, motion: Matrix4): void {
  const local = motion.clone().multiply(bone.matrixWorld);
  if (bone.parent) local.premultiply(new Matrix4().copy(bone.parent.matrixWorld).invert());
  local.decompose(bone.position, bone.quaternion, new Vector3());
  bone.updateMatrixWorld(true);
}
