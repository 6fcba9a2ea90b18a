/**
 * Normals of a surface that was subdivided and not yet moved: all parts of a coarse triangle have its normal, so that only
 * coarse triangles are looked at. They are weighted by area and shared across seams.
 */

import type { Groups } from "../weld.js";

/** Which coarse triangles meet at each group of fine vertices, and by how many of their parts. */
export class FlatCorners {
  /** Those of group g are from starts[g] to starts[g + 1]. */
  readonly starts: Uint32Array;
  readonly triangles: Uint32Array;
  readonly parts: Uint8Array;

  /** Parameters: the corners of the fine triangles, the vertices of each that share a normal, how many fine vertices. */
  constructor(fine: Uint32Array, levels: number, groups: Groups | null, vertices: number) {
    const group = (vertex: number) => (groups ? groups.of[vertex] : vertex);
    const starts = new Uint32Array((groups?.count ?? vertices) + 1);
    for (const vertex of fine) starts[group(vertex) + 1]++;
    for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
    const next = starts.slice();
    const triangles = new Uint32Array(fine.length);
    const each = 3 * 4 ** levels;
    fine.forEach((vertex, corner) => {
      triangles[next[group(vertex)]++] = Math.floor(corner / each);
    });
    // The parts of a triangle come one after the other.
    const parts = new Uint8Array(fine.length);
    let count = 0;
    for (let k = 0, at = 0; k + 1 < starts.length; k++) {
      const first = count;
      for (; at < starts[k + 1]; at++) {
        const same = count > first && triangles[count - 1] === triangles[at] && parts[count - 1] < 255;
        if (same) parts[count - 1]++;
        else {
          triangles[count] = triangles[at];
          parts[count++] = 1;
        }
      }
      // The end of one list is the start of the next, which is not read again.
      next[k] = first;
    }
    next[starts.length - 1] = count;
    this.starts = next;
    this.triangles = triangles.slice(0, count);
    this.parts = parts.slice(0, count);
  }
}

/** Write the normals of coarse triangles of points (., 3), each twice as long as its triangle's area. */
export function writeAreas(points: Float32Array, triangles: Uint32Array, areas: Float32Array): void {
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ax = points[a];
    const ay = points[a + 1];
    const az = points[a + 2];
    const ux = points[b] - ax;
    const uy = points[b + 1] - ay;
    const uz = points[b + 2] - az;
    const vx = points[c] - ax;
    const vy = points[c + 1] - ay;
    const vz = points[c + 2] - az;
    areas[t] = uy * vz - uz * vy;
    areas[t + 1] = uz * vx - ux * vz;
    areas[t + 2] = ux * vy - uy * vx;
  }
}

/** Move fine points (F, 3) along their normals by heights (F); `areas` are those of the coarse triangles. */
export function raise(
  { starts, triangles, parts }: FlatCorners,
  areas: Float32Array,
  groups: Groups | null,
  heights: Float32Array,
  points: Float32Array,
): void {
  for (let vertex = 0; vertex < heights.length; vertex++) {
    const group = groups ? groups.of[vertex] : vertex;
    let x = 0;
    let y = 0;
    let z = 0;
    const end = starts[group + 1];
    for (let k = starts[group]; k < end; k++) {
      const at = 3 * triangles[k];
      const part = parts[k];
      x += part * areas[at];
      y += part * areas[at + 1];
      z += part * areas[at + 2];
    }
    const square = x * x + y * y + z * z;
    if (square > 0) {
      const scale = heights[vertex] / Math.sqrt(square);
      points[3 * vertex] += scale * x;
      points[3 * vertex + 1] += scale * y;
      points[3 * vertex + 2] += scale * z;
    } else points[3 * vertex + 2] += heights[vertex];
  }
}
