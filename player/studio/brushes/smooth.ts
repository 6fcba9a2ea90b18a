/** Smooth: each vertex moves towards the mean of those beside it; on an open edge, of those on that edge. */

import type { Dab } from "./dab.js";
import type { SculptSurface } from "./surface.js";

/** How many times a dab smooths at full strength, as in Blender. */
const TIMES = 4;

/** Displacements (K, 3) of the dab's vertices. */
export function apply(surface: SculptSurface, dab: Dab): Float32Array {
  const displacements = new Float32Array(3 * dab.vertices.length);
  const slots = new Map<number, number>();
  dab.vertices.forEach((vertex, k) => {
    slots.set(vertex, k);
  });
  for (let left = TIMES * dab.strength; left > 0; left--) {
    once(surface, dab, slots, displacements, Math.min(1, left));
  }
  return displacements;
}

/** Add one step of smoothing to the displacements, which the step sees. */
function once(
  { points, topology }: SculptSurface,
  { vertices, falloff }: Dab,
  slots: Map<number, number>,
  displacements: Float32Array,
  strength: number,
): void {
  const before = displacements.slice();
  vertices.forEach((vertex, k) => {
    const sums = [0, 0, 0];
    let count = 0;
    for (const other of topology.beside.row(vertex)) {
      if (topology.open[vertex] && !topology.open[other]) continue;
      const slot = slots.get(other);
      for (let axis = 0; axis < 3; axis++) {
        sums[axis] += points[3 * other + axis] + (slot === undefined ? 0 : before[3 * slot + axis]);
      }
      count++;
    }
    if (!count) return;
    for (let axis = 0; axis < 3; axis++) {
      const here = points[3 * vertex + axis] + before[3 * k + axis];
      displacements[3 * k + axis] += strength * falloff[k] * (sums[axis] / count - here);
    }
  });
}
