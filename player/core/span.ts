/** The span of a driver's samples: the directions that some sample lies along, as seen from the first one. */

import type { Driver } from "./description.js";

/** The longest axis of a rotation, just below a half turn, where an axis and its opposite are the same rotation. */
const LONGEST = 1 - 1e-6;

/** Move a position to the nearest one in the span of a driver's samples; `along` is overwritten. */
export function ontoSpan(driver: Driver, position: Float64Array, along: Float64Array): void {
  if (driver.kind === "joint") ontoAxes(driver, position, along);
  else ontoDirections(driver, position, along);
}

function ontoDirections(driver: Driver, position: Float64Array, along: Float64Array): void {
  const { span, centres, radius, dimensions } = driver;
  if (!span) return;
  const rows = span.length / dimensions;
  for (let row = 0; row < rows; row++) {
    along[row] = 0;
    for (let d = 0; d < dimensions; d++) {
      along[row] += (span[row * dimensions + d] * (position[d] - centres[d])) / radius[d];
    }
  }
  for (let d = 0; d < dimensions; d++) {
    let total = 0;
    for (let row = 0; row < rows; row++) total += along[row] * span[row * dimensions + d];
    position[d] = centres[d] + radius[d] * total;
  }
}

/** Of rotations the x, y and z of their quaternions as seen from the first sample's are moved, three for each joint. */
function ontoAxes({ span, centres, dimensions, axes }: Driver, position: Float64Array, along: Float64Array): void {
  if (!span) return;
  const rows = span.length / axes;
  along.fill(0, 0, rows);
  for (let d = 0; d < dimensions; d += 4) {
    const [p, q, r, s] = [centres[d], centres[d + 1], centres[d + 2], centres[d + 3]];
    const [x, y, z, w] = [position[d], position[d + 1], position[d + 2], position[d + 3]];
    const sign = s * w + p * x + q * y + r * z < 0 ? -1 : 1;
    const i = sign * (s * x - p * w - q * z + r * y);
    const j = sign * (s * y + p * z - q * w - r * x);
    const k = sign * (s * z - p * y + q * x - r * w);
    for (let row = 0; row < rows; row++) {
      const start = row * axes + (3 * d) / 4;
      along[row] += span[start] * i + span[start + 1] * j + span[start + 2] * k;
    }
  }
  for (let d = 0; d < dimensions; d += 4) {
    const [p, q, r, s] = [centres[d], centres[d + 1], centres[d + 2], centres[d + 3]];
    let [x, y, z] = [0, 0, 0];
    for (let row = 0; row < rows; row++) {
      const start = row * axes + (3 * d) / 4;
      x += along[row] * span[start];
      y += along[row] * span[start + 1];
      z += along[row] * span[start + 2];
    }
    // What several joints share may come out as more than a half turn of one of them.
    const size = Math.max(Math.sqrt(x * x + y * y + z * z) / LONGEST, 1);
    [x, y, z] = [x / size, y / size, z / size];
    const w = Math.sqrt(Math.max(1 - x * x - y * y - z * z, 0));
    position[d] = s * x + p * w + q * z - r * y;
    position[d + 1] = s * y - p * z + q * w + r * x;
    position[d + 2] = s * z + p * y - q * x + r * w;
    position[d + 3] = s * w - p * x - q * y - r * z;
  }
}

/** Whether rows of so many numbers are orthonormal. */
export function isOrthonormal(span: Float64Array, axes: number): boolean {
  for (let a = 0; a < span.length; a += axes) {
    for (let b = 0; b <= a; b += axes) {
      let product = a === b ? -1 : 0;
      for (let k = 0; k < axes; k++) product += span[a + k] * span[b + k];
      if (!(Math.abs(product) <= 1e-6)) return false;
    }
  }
  return true;
}
