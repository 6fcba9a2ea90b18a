/** Local frames of neighbourhoods: the common rotation of a few points that are near each other. */

import { nearestRotation, writeMatrix } from "./nearest_rotation.js";
import { addOuter } from "./rigid.js";

/** Weight of the identity, as a fraction of the spread: points in a line leave the rotation undetermined. */
const UPRIGHT = 0.01;

export class LocalFrames {
  /** The rotation of each neighbourhood's local frame, x y z w. */
  readonly quaternions: Float64Array;
  /** The points (C, 3) of the neighbourhood that was last looked at, from its middle, in its local frame. */
  readonly points: Float64Array;
  /** Of each neighbourhood its points (C, 3) at rest, from their middle, and the weight of the identity. */
  private readonly rest: Float64Array;
  private readonly upright: Float64Array;
  private readonly spread = new Float64Array(9);
  private readonly matrix = new Float64Array(9);

  /** Parameters: `near` (B, C), the points of each neighbourhood; `holds` (B, C), their weights; all points at rest. */
  constructor(
    private readonly near: Uint32Array,
    private readonly holds: Float64Array,
    private readonly width: number,
    rest: Float64Array,
  ) {
    const count = near.length / width;
    this.quaternions = new Float64Array(4 * count);
    this.points = new Float64Array(3 * width);
    this.rest = new Float64Array(3 * near.length);
    this.upright = new Float64Array(count);
    for (let k = 0; k < count; k++) {
      this.centre(k, rest);
      this.rest.set(this.points, 3 * width * k);
      let size = 0;
      for (let c = 0; c < 3 * width; c++) size += holds[width * k + Math.floor(c / 3)] * this.points[c] ** 2;
      this.upright[k] = UPRIGHT * size + 1e-30;
    }
  }

  /** Write the points of a neighbourhood in its local frame, for `positions` of all, and the rotation of that frame. */
  find(k: number, positions: Float64Array): void {
    const { width, holds, rest, points, spread, matrix, quaternions } = this;
    this.centre(k, positions);
    spread.fill(0);
    spread[0] = spread[4] = spread[8] = this.upright[k];
    for (let c = 0; c < width; c++) {
      const hold = holds[width * k + c];
      const at = 3 * (width * k + c);
      addOuter(
        spread,
        hold * points[3 * c],
        hold * points[3 * c + 1],
        hold * points[3 * c + 2],
        rest[at],
        rest[at + 1],
        rest[at + 2],
      );
    }
    nearestRotation(spread, quaternions, 4 * k);
    writeMatrix(quaternions, 4 * k, matrix, 0);
    for (let c = 0; c < 3 * width; c += 3) {
      const [x, y, z] = [points[c], points[c + 1], points[c + 2]];
      points[c] = matrix[0] * x + matrix[3] * y + matrix[6] * z;
      points[c + 1] = matrix[1] * x + matrix[4] * y + matrix[7] * z;
      points[c + 2] = matrix[2] * x + matrix[5] * y + matrix[8] * z;
    }
  }

  /** Write the points of a neighbourhood from their middle. */
  private centre(k: number, positions: Float64Array): void {
    const { near, holds, width, points } = this;
    let [x, y, z] = [0, 0, 0];
    for (let c = width * k; c < width * (k + 1); c++) {
      const at = 3 * near[c];
      x += holds[c] * positions[at];
      y += holds[c] * positions[at + 1];
      z += holds[c] * positions[at + 2];
    }
    for (let c = 0; c < width; c++) {
      const at = 3 * near[width * k + c];
      points[3 * c] = positions[at] - x;
      points[3 * c + 1] = positions[at + 1] - y;
      points[3 * c + 2] = positions[at + 2] - z;
    }
  }
}
