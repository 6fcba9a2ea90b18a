/** Rings at the selected joint: dragging one rotates the joint about one of its axes, within its limits. */

import { Matrix4, Object3D, Quaternion, Vector3 } from "three";
import { TransformControls } from "three/addons/controls/TransformControls.js";

import type { Grip, Pixel } from "../drags.js";
import type { JointEditing } from "../joint_editing.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** The size of the rings in the picture, in parts of what three.js has by itself. */
const SIZE = 0.85;

const SIDES = ["showX", "showY", "showZ"] as const;

export class JointGizmo implements Tool {
  private stage: Stage | null = null;
  private controls: TransformControls | null = null;
  /** What the rings rotate: it has the place of the joint, and its axes are those of the joint's angles. */
  private readonly handle = new Object3D();

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    // Without an element: it is told of pointers by the page's drags, which know of fingers and of the camera.
    const controls = new TransformControls(stage.camera, null as unknown as HTMLElement);
    controls.setMode("rotate");
    controls.setSpace("local");
    controls.setSize(SIZE);
    controls.showXYZE = false;
    stage.overlay.add(this.handle, controls.getHelper());
    this.controls = controls;
    panel.onDispose(
      stage.drags.add({
        grab: (pixel) => this.grab(stage, controls, pixel),
        hover: (pixel) => this.hover(stage, controls, pixel),
      }),
    );
  }

  changed(): void {
    const { stage, controls } = this;
    if (!stage || !controls || controls.dragging) return;
    const { joints, posing } = stage;
    const isShown = joints.drag === "rotate" && joints.selected >= 0 && !posing.moving;
    const angles = isShown ? joints.anglesOf(joints.selected) : null;
    if (!angles?.free) {
      controls.detach();
      return;
    }
    SIDES.forEach((side, axis) => {
      controls[side] = angles.rotates(axis);
    });
    this.place(joints);
    controls.attach(this.handle);
  }

  /** A clip moves the joint with every frame. */
  afterDraw(): void {
    const { stage, controls } = this;
    if (controls?.object && stage) this.place(stage.joints);
  }

  dispose(): void {
    this.controls?.getHelper().removeFromParent();
    this.controls?.dispose();
    this.handle.removeFromParent();
  }

  private hover(stage: Stage, controls: TransformControls, pixel: Pixel | null): string | null {
    const before = controls.axis;
    if (pixel && controls.object) controls.pointerHover(pointerAt(stage, pixel, 0));
    else controls.axis = null;
    if (controls.axis !== before) stage.wake();
    return controls.axis ? "grab" : null;
  }

  private grab(stage: Stage, controls: TransformControls, start: Pixel): Grip | null {
    if (!controls.object) return null;
    const { joints, posing } = stage;
    controls.pointerHover(pointerAt(stage, start, 0));
    if (!controls.axis) return null;
    const axis = controls.axis;
    let rotate = () => {};
    const release = () => {
      controls.pointerUp(pointerAt(stage, start, 0));
      stage.notify();
    };
    return {
      begin: () => {
        joints.begin();
        this.place(joints);
        controls.axis = axis;
        controls.pointerDown(pointerAt(stage, start, 0));
        rotate = follower(joints, this.handle);
      },
      move: (pixel) => {
        controls.pointerMove(pointerAt(stage, pixel, -1));
        rotate();
        this.place(joints);
        joints.moved();
      },
      end: () => {
        posing.end();
        release();
      },
      cancel: () => {
        posing.cancel();
        release();
      },
    };
  }

  /** Bring the rings to where the joint is. */
  private place(joints: JointEditing): void {
    const bone = joints.bones[joints.selected];
    const { axes } = joints.anglesOf(joints.selected);
    this.handle.position.setFromMatrixPosition(bone.matrixWorld);
    bone.getWorldQuaternion(this.handle.quaternion).multiply(basisOf(axes));
    this.handle.updateMatrixWorld();
  }
}

/** What rotates the selected joint as the rings have been rotated since now. */
function follower(joints: JointEditing, handle: Object3D): () => void {
  const joint = joints.selected;
  const bone = joints.bones[joint];
  const start = bone.quaternion.clone();
  const fromHandle = handle.quaternion.clone().invert();
  const above = bone.parent?.getWorldQuaternion(new Quaternion()) ?? new Quaternion();
  const toAbove = above.clone().invert();
  let angles = joints.measure(joint);
  return () => {
    const motion = handle.quaternion.clone().multiply(fromHandle);
    const rotation = toAbove.clone().multiply(motion).multiply(above).multiply(start);
    // Beyond a limit the rings may go on: the angles that the joint would have go with them.
    angles = joints.anglesOf(joint).of(rotation, angles);
    joints.rotate(joint, angles);
  };
}

/** The rotation whose axes are those of a joint; axes that it has not are chosen. */
function basisOf(axes: readonly Vector3[]): Quaternion {
  const first = Math.max(
    0,
    axes.findIndex((axis) => axis.lengthSq() > 0),
  );
  const given = (step: number) => axes[(first + step) % 3];
  const basis = [new Vector3(), new Vector3(), new Vector3()];
  const [x, y, z] = [0, 1, 2].map((step) => basis[(first + step) % 3]);
  x.copy(given(0).lengthSq() ? given(0) : new Vector3(1, 0, 0));
  if (given(1).lengthSq()) y.copy(given(1));
  else if (given(2).lengthSq()) y.crossVectors(given(2), x);
  else y.crossVectors(Math.abs(x.z) < 0.9 ? new Vector3(0, 0, 1) : new Vector3(0, 1, 0), x).normalize();
  // Where the axes are left-handed, the last one is drawn the other way round: its ring is the same.
  z.crossVectors(x, y);
  return new Quaternion().setFromRotationMatrix(new Matrix4().makeBasis(basis[0], basis[1], basis[2]));
}

/** A pixel as the rings know pointers: from -1 to 1 across the picture. */
function pointerAt({ picture }: Stage, { x, y }: Pixel, button: number): PointerEvent {
  const pointer = { x: (2 * x) / picture.width - 1, y: 1 - (2 * y) / picture.height, button };
  return pointer as unknown as PointerEvent;
}
