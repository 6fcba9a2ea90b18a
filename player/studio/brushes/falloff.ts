/** How much of a brush is felt at a distance from its centre: Blender's smooth falloff, 1 at the centre and 0 at the radius. */

import type { SculptSurface } from "./surface.js";

/** The falloff at a distance, over the radius. */
export function falloff(distance: number): number {
  const near = Math.max(0, 1 - distance);
  return near * near * (3 - 2 * near);
}

/** The falloff (K,) at vertices (K,) of a brush with a centre (3,) and a radius. */
export function falloffAt(
  surface: SculptSurface,
  vertices: Uint32Array,
  centre: ArrayLike<number>,
  radius: number,
): Float32Array {
  const { points } = surface;
  return Float32Array.from(vertices, (vertex) => {
    const [x, y, z] = [0, 1, 2].map((k) => points[3 * vertex + k] - centre[k]);
    return falloff(Math.hypot(x, y, z) / radius);
  });
}
