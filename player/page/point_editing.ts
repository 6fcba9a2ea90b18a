/** The control points as the page edits them: which one is selected, how a drag moves it, and the way back. */

import { Matrix3, Matrix4, Quaternion, Vector3 } from "three";
import type { Object3D, PerspectiveCamera } from "three";

import type { PoseSkin } from "../three/index.js";
import type { DragMotion } from "./drag_motion.js";
import { nameOf } from "./posing.js";
import type { Posing } from "./posing.js";

export const DRAGS = ["point", "normal", "whole", "rotate"] as const;
/** What a drag does: move a point in the plane of the view or along its normal; move the whole, or rotate it. */
export type Drag = (typeof DRAGS)[number];

/** Where a point is in the picture, in pixels, and whether the surface there faces the viewer. */
export interface Handle {
  x: number;
  y: number;
  front: boolean;
  /** Whether it is in front of the camera. */
  visible: boolean;
}

export class PointEditing {
  /** The numbers of the points that are selected and below the pointer; -1: none. */
  selected = -1;
  hovered = -1;
  /** What a drag moves where no key says otherwise. */
  drag: Drag = "point";
  /** Whether the user wants to see handles. */
  wanted = true;
  readonly names: string[];
  readonly handles: Handle[];
  private whole: { matrix: Matrix4; pivot: Vector3 } | null = null;

  constructor(
    private skin: PoseSkin | null,
    private readonly posing: Posing,
    private readonly changed: () => void,
  ) {
    const points = skin?.points ?? [];
    this.names = points.map(({ node }) => nameOf(node));
    this.handles = points.map(() => ({ x: 0, y: 0, front: true, visible: false }));
  }

  /** Go on with another skin of the same points. */
  exchange(skin: PoseSkin): void {
    this.skin = skin;
  }

  get count(): number {
    return this.handles.length;
  }

  /** Whether handles are seen: not while something else moves the skin. */
  get shown(): boolean {
    return this.wanted && !this.posing.moving;
  }

  select(point: number): void {
    this.selected = point;
    this.changed();
  }

  /** The position of the surface at a point, in the world. */
  position(point: number): Vector3 {
    const position = new Vector3();
    this.skin?.pointPosition(point, position);
    return position;
  }

  /** The normal of the surface at a point, in the world. */
  normal(point: number): Vector3 {
    const normal = new Vector3();
    this.skin?.pointNormal(point, normal);
    return normal;
  }

  /** The position that a point was dragged to, in the world: the surface follows it as closely as beta asks. */
  target(point: number): Vector3 {
    return this.node(point).getWorldPosition(new Vector3());
  }

  /** How far a point is from rest, in metres, without the motion of the whole. */
  distance(point: number): number {
    const { bone, position } = this.rest(point);
    return bone.position.distanceTo(position);
  }

  /** Find all handles in a picture of so many pixels. */
  project(camera: PerspectiveCamera, width: number, height: number): void {
    this.handles.forEach((handle, k) => {
      const position = this.position(k);
      handle.front = this.normal(k).dot(camera.position.clone().sub(position)) > 0;
      const { x, y, z } = position.project(camera);
      handle.x = ((x + 1) * width) / 2;
      handle.y = ((1 - y) * height) / 2;
      handle.visible = z > -1 && z < 1;
    });
  }

  /** The point whose handle is nearest to a pixel, within a radius; those at the front come first. -1: none. */
  nearest(x: number, y: number, radius: number): number {
    let [best, least] = [-1, Infinity];
    this.handles.forEach((handle, k) => {
      const distance = Math.hypot(handle.x - x, handle.y - y);
      if (!handle.visible || distance > radius) return;
      const cost = distance + (handle.front ? 0 : radius);
      if (cost < least) [best, least] = [k, cost];
    });
    return best;
  }

  /** Begin to move something; `end` and `cancel` of the posing keep it or do not. */
  begin(): void {
    this.posing.begin();
    this.posing.hold();
    const root = this.root;
    root?.updateWorldMatrix(true, false);
    const pivot = new Vector3();
    for (let k = 0; k < this.count; k++) pivot.addScaledVector(this.position(k), 1 / this.count);
    this.whole = root && { matrix: root.matrixWorld.clone(), pivot };
  }

  /** Move a point, or the whole, to where a drag from its beginning has come to. */
  move(drag: Drag, point: number, motion: DragMotion, x: number, y: number): void {
    if (drag === "point") this.movePoint(point, motion.inView(x, y));
    else if (drag === "normal") this.movePoint(point, motion.alongNormal(x, y));
    else if (drag === "whole") this.moveWhole(motion.inView(x, y), new Quaternion());
    else this.moveWhole(new Vector3(), motion.rotation(x, y));
  }

  /** Bring points back to rest. */
  reset(points: readonly number[]): void {
    this.begin();
    for (const point of points) {
      const { bone, position } = this.rest(point);
      bone.position.copy(position);
    }
    this.posing.end();
    this.changed();
  }

  /** Bring all points, and the whole, back to rest. */
  resetAll(): void {
    this.posing.rest();
  }

  private movePoint(point: number, displacement: Vector3): void {
    const node = this.node(point);
    const start = this.posing.poseBefore?.joints;
    if (!node.parent || !start) return;
    const { position, joint } = this.rest(point);
    const toParent = new Matrix3().setFromMatrix4(node.parent.matrixWorld).invert();
    const { length } = this.posing.rests;
    node.position.fromArray(start, 4 * length + 3 * joint).add(position);
    node.position.add(displacement.applyMatrix3(toParent));
  }

  /** Rotate the whole about the middle of its points, and move it. */
  private moveWhole(displacement: Vector3, rotation: Quaternion): void {
    const root = this.root;
    if (!root || !this.whole) return;
    const { matrix, pivot } = this.whole;
    const moved = new Matrix4().makeTranslation(pivot.clone().negate()).multiply(matrix);
    moved.premultiply(new Matrix4().makeRotationFromQuaternion(rotation));
    moved.premultiply(new Matrix4().makeTranslation(pivot.clone().add(displacement)));
    if (root.parent) moved.premultiply(root.parent.matrixWorld.clone().invert());
    moved.decompose(root.position, root.quaternion, new Vector3());
  }

  /** The joint above all points. */
  private get root(): Object3D | null {
    return this.skin?.points[0]?.node.parent ?? null;
  }

  private node(point: number): Object3D {
    return this.rest(point).bone;
  }

  private rest(point: number) {
    const node = this.skin?.points[point].node;
    const joint = this.posing.rests.findIndex(({ bone }) => bone === node);
    return { ...this.posing.rests[joint], joint };
  }
}
