/** Grab: what is below the brush follows the pointer. */

import type { Dab } from "./dab.js";
import type { SculptSurface } from "./surface.js";

/** Displacements (K, 3) of the dab's vertices. */
export function apply(_surface: SculptSurface, { falloff, strength, motion }: Dab): Float32Array {
  const displacements = new Float32Array(3 * falloff.length);
  falloff.forEach((share, k) => {
    for (let axis = 0; axis < 3; axis++) displacements[3 * k + axis] = strength * share * motion[axis];
  });
  return displacements;
}
