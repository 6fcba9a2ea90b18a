/** A joint's rotation as angles from rest about its axes, as the library has them, and its limits. */

import { Quaternion, Vector3 } from "three";

import type { Joint } from "../core/description.js";

const WHOLE = 2 * Math.PI;

export class JointAngles {
  /** The axes of its angles, in its own axes; one of length 0 is none. */
  readonly axes: Vector3[];
  /** The least and the largest angle about each axis, in radians; infinite where the joint has no limits. */
  readonly least: number[];
  readonly largest: number[];

  /** Whether the joint has limits. */
  readonly limited: boolean;

  constructor(
    { axes, limits }: Pick<Joint, "axes" | "limits">,
    private readonly rest: Quaternion,
  ) {
    this.limited = limits !== null;
    this.axes = [0, 3, 6].map((start) => new Vector3().fromArray(axes, start));
    const bounds = (axis: number) => {
      if (this.axes[axis].lengthSq() === 0) return [0, 0];
      return limits ? [limits[2 * axis], limits[2 * axis + 1]] : [-Infinity, Infinity];
    };
    [this.least, this.largest] = [0, 1].map((side) => [0, 1, 2].map((axis) => bounds(axis)[side]));
  }

  /** The angles half way between the limits; null without limits. */
  get middle(): number[] | null {
    return this.limited ? this.least.map((least, axis) => (least + this.largest[axis]) / 2) : null;
  }

  /** Whether the joint rotates about an axis. */
  rotates(axis: number): boolean {
    return this.largest[axis] > this.least[axis];
  }

  /** Whether the joint rotates at all. */
  get free(): boolean {
    return this.axes.some((_, axis) => this.rotates(axis));
  }

  /**
   * The angles of a rotation. One of the two ways round is taken: the shorter one, or the one that is nearer to other
   * angles, so that a joint that is rotated on and on does not jump.
   */
  of(rotation: Quaternion, near: readonly number[] = [0, 0, 0]): number[] {
    const { x, y, z, w } = this.rest.clone().invert().multiply(rotation);
    const sine = Math.hypot(x, y, z);
    const angle = 2 * Math.atan2(sine, Math.abs(w)) * (w < 0 ? -1 : 1);
    // Near rest the vector is twice the axis' part.
    const vector = new Vector3(x, y, z).multiplyScalar(sine > 1e-12 ? angle / sine : 2);
    const shorter = this.axes.map((axis) => axis.dot(vector));
    if (sine <= 1e-12) return shorter;
    const longer = shorter.map((value) => value * (1 - WHOLE / Math.abs(angle)));
    return distance(longer, near) < distance(shorter, near) ? longer : shorter;
  }

  /** The rotation that has some angles. */
  rotation(angles: readonly number[]): Quaternion {
    const vector = new Vector3();
    for (let a = 0; a < 3; a++) vector.addScaledVector(this.axes[a], angles[a]);
    const angle = vector.length();
    return this.rest.clone().multiply(new Quaternion().setFromAxisAngle(vector.normalize(), angle));
  }

  /** The nearest angles that are within the limits. */
  clamped(angles: readonly number[]): number[] {
    return angles.map((angle, axis) => Math.min(this.largest[axis], Math.max(this.least[axis], angle)));
  }
}

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
