/** Flatten: vertices move onto the plane through the middle of what is below the brush; with a negative strength away from it. */

import type { Dab } from "./dab.js";
import type { SculptSurface } from "./surface.js";

/** The part of the way to the plane that one dab goes at full strength. */
const STEP = 0.5;

/** Displacements (K, 3) of the dab's vertices. */
export function apply(surface: SculptSurface, { vertices, falloff, strength }: Dab): Float32Array {
  const { points, normals } = surface;
  const middle = mean(points, vertices, falloff);
  const normal = mean(normals, vertices, falloff);
  const length = Math.hypot(...normal) || 1;
  const displacements = new Float32Array(3 * vertices.length);
  vertices.forEach((vertex, k) => {
    let height = 0;
    for (let axis = 0; axis < 3; axis++) {
      height += ((points[3 * vertex + axis] - middle[axis]) * normal[axis]) / length;
    }
    const step = (-STEP * strength * falloff[k] * height) / length;
    for (let axis = 0; axis < 3; axis++) displacements[3 * k + axis] = step * normal[axis];
  });
  return displacements;
}

/** The mean (3,) of rows (N, 3) over vertices, weighted by the falloff. */
function mean(rows: Float32Array, vertices: Uint32Array, falloff: Float32Array): number[] {
  const sums = [0, 0, 0];
  let total = 0;
  vertices.forEach((vertex, k) => {
    total += falloff[k];
    for (let axis = 0; axis < 3; axis++) sums[axis] += falloff[k] * rows[3 * vertex + axis];
  });
  return sums.map((sum) => sum / (total || 1));
}
