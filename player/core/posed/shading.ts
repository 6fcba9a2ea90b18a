/** Which vertices share a normal: those of one position, except on the two sides of a sheet. */

import { groupsOf, weld } from "../weld.js";
import type { Groups } from "../weld.js";

/** Areas around a position cancel where their sum is below this share of them: two sides of a sheet, not an edge. */
const CANCELLED = 1e-3;

/**
 * The groups that share a normal, of points (N, 3) at rest and their triangles; null where each vertex has its own.
 * Hair, leaves and cloth are often sheets with a second side at the same positions, facing the other way: the normals of
 * the two sides would cancel.
 */
export function shadingOf(points: Float64Array, triangles: Uint32Array): Groups | null {
  const welded = weld(points);
  if (welded.count === points.length / 3) return null;
  const areas = new Float64Array(points.length);
  const around = new Float64Array(3 * welded.count);
  const sizes = new Float64Array(welded.count);
  const area = new Float64Array(3);
  for (let t = 0; t < triangles.length; t += 3) {
    writeArea(points, triangles, t, area);
    const size = Math.hypot(area[0], area[1], area[2]);
    for (let corner = t; corner < t + 3; corner++) {
      const vertex = triangles[corner];
      const group = welded.of[vertex];
      sizes[group] += size;
      for (let k = 0; k < 3; k++) {
        areas[3 * vertex + k] += area[k];
        around[3 * group + k] += area[k];
      }
    }
  }
  const firsts = new Int32Array(welded.count).fill(-1);
  const labels = welded.of.map((group, vertex) => {
    if (firsts[group] < 0) firsts[group] = vertex;
    const [here, first] = [3 * vertex, 3 * firsts[group]];
    const facing = areas[here] * areas[first] + areas[here + 1] * areas[first + 1] + areas[here + 2] * areas[first + 2];
    const total = Math.hypot(around[3 * group], around[3 * group + 1], around[3 * group + 2]);
    return 2 * group + Number(total < CANCELLED * sizes[group] && facing < 0);
  });
  return groupsOf(labels, 2 * welded.count);
}

/** Write the normal of the triangle whose corners begin at `t`, twice as long as its area. */
function writeArea(points: Float64Array, triangles: Uint32Array, t: number, area: Float64Array): void {
  const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
  const [ux, uy, uz] = [points[b] - points[a], points[b + 1] - points[a + 1], points[b + 2] - points[a + 2]];
  const [vx, vy, vz] = [points[c] - points[a], points[c + 1] - points[a + 1], points[c + 2] - points[a + 2]];
  area[0] = uy * vz - uz * vy;
  area[1] = uz * vx - ux * vz;
  area[2] = ux * vy - uy * vx;
}
