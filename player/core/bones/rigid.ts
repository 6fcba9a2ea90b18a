/** Rigid alignment: the rotation and translation that bring points closest to others, by least squares. */

import { nearestRotation, writeMatrix } from "./nearest_rotation.js";

export class RigidMotion {
  /** Three rows of three. */
  readonly rotation = Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1);
  readonly translation = new Float64Array(3);
  private readonly spread = new Float64Array(9);
  private readonly quaternion = new Float64Array(4);

  /** Find the motion from `rest` (M, 3) to `targets` (M, 3); `shares` (M) are the points' weights, which sum to one. */
  find(rest: Float64Array, targets: Float64Array, shares: Float64Array): void {
    const { rotation, translation, spread, quaternion } = this;
    let [hx, hy, hz, tx, ty, tz] = [0, 0, 0, 0, 0, 0];
    for (let k = 0; k < shares.length; k++) {
      const share = shares[k];
      hx += share * rest[3 * k];
      hy += share * rest[3 * k + 1];
      hz += share * rest[3 * k + 2];
      tx += share * targets[3 * k];
      ty += share * targets[3 * k + 1];
      tz += share * targets[3 * k + 2];
    }
    spread.fill(0);
    for (let k = 0; k < shares.length; k++) {
      const share = shares[k];
      const [x, y, z] = [rest[3 * k] - hx, rest[3 * k + 1] - hy, rest[3 * k + 2] - hz];
      addOuter(
        spread,
        share * (targets[3 * k] - tx),
        share * (targets[3 * k + 1] - ty),
        share * (targets[3 * k + 2] - tz),
        x,
        y,
        z,
      );
    }
    nearestRotation(spread, quaternion, 0);
    writeMatrix(quaternion, 0, rotation, 0);
    translation[0] = tx - (rotation[0] * hx + rotation[1] * hy + rotation[2] * hz);
    translation[1] = ty - (rotation[3] * hx + rotation[4] * hy + rotation[5] * hz);
    translation[2] = tz - (rotation[6] * hx + rotation[7] * hy + rotation[8] * hz);
  }

  /** Write `points` (M, 3) without the motion. */
  remove(points: Float64Array, aligned: Float64Array): void {
    const [r, t] = [this.rotation, this.translation];
    for (let k = 0; k < points.length; k += 3) {
      const [x, y, z] = [points[k] - t[0], points[k + 1] - t[1], points[k + 2] - t[2]];
      aligned[k] = r[0] * x + r[3] * y + r[6] * z;
      aligned[k + 1] = r[1] * x + r[4] * y + r[7] * z;
      aligned[k + 2] = r[2] * x + r[5] * y + r[8] * z;
    }
  }
}

/** Add the product of a column (p, q, r) and a row (x, y, z) to a matrix of three rows. */
export function addOuter(matrix: Float64Array, p: number, q: number, r: number, x: number, y: number, z: number): void {
  matrix[0] += p * x;
  matrix[1] += p * y;
  matrix[2] += p * z;
  matrix[3] += q * x;
  matrix[4] += q * y;
  matrix[5] += q * z;
  matrix[6] += r * x;
  matrix[7] += r * y;
  matrix[8] += r * z;
}
