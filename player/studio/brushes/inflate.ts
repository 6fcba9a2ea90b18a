/** Inflate: each vertex moves out along its own normal; with a negative strength in, which deflates. */

import type { Dab } from "./dab.js";
import type { SculptSurface } from "./surface.js";

/** How far one dab goes at full strength, over the radius: a stroke at usual spacing adds up to half of the radius. */
const STEP = 0.1;

/** Displacements (K, 3) of the dab's vertices. */
export function apply(surface: SculptSurface, { vertices, falloff, radius, strength }: Dab): Float32Array {
  const displacements = new Float32Array(3 * vertices.length);
  vertices.forEach((vertex, k) => {
    const step = STEP * radius * strength * falloff[k];
    for (let axis = 0; axis < 3; axis++) displacements[3 * k + axis] = step * surface.normals[3 * vertex + axis];
  });
  return displacements;
}
