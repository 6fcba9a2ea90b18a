/** The triangles of a skin, over all of its primitives: vertices that share a position are one. */

import type { Geometry } from "./vectors.js";
import { weld } from "./weld.js";

/** Rings of vertices that make a vertex's neighbourhood. */
const RINGS = 2;

export class Surface {
  /** Of each primitive, the number of its first vertex among those of all. */
  readonly firsts: number[] = [];
  readonly vertices: number;
  /** Of each vertex, the number of its welded position; the corners of all triangles, as such numbers. */
  private readonly welded: Uint32Array;
  private readonly corners: Uint32Array;
  private readonly marked: Uint8Array;
  private readonly near: Uint32Array;
  private readonly values: [Float64Array, Float64Array];

  constructor(geometries: Geometry[]) {
    let vertices = 0;
    for (const { positions } of geometries) {
      this.firsts.push(vertices);
      vertices += positions.count;
    }
    this.vertices = vertices;
    this.welded = new Uint32Array(vertices);
    const count = this.weld(geometries);
    this.corners = this.cornersOf(geometries);
    this.marked = new Uint8Array(count);
    this.near = new Uint32Array(this.corners.length / 3);
    this.values = [new Float64Array(count), new Float64Array(count)];
  }

  /** Number the positions; return how many there are. */
  private weld(geometries: Geometry[]): number {
    const points = new Float64Array(3 * this.vertices);
    geometries.forEach(({ positions }, k) => {
      for (let vertex = 0; vertex < positions.count; vertex++) {
        const at = 3 * (this.firsts[k] + vertex);
        points[at] = positions.getX(vertex);
        points[at + 1] = positions.getY(vertex);
        points[at + 2] = positions.getZ(vertex);
      }
    });
    const { of, count } = weld(points);
    this.welded.set(of);
    return count;
  }

  private cornersOf(geometries: Geometry[]): Uint32Array {
    const counts = geometries.map(({ indices, positions }) => 3 * Math.floor((indices ?? positions).count / 3));
    const corners = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
    let next = 0;
    geometries.forEach(({ indices, positions }, k) => {
      for (let corner = 0; corner < counts[k]; corner++) {
        const vertex = indices ? indices.getX(corner) : corner;
        // A corner that is no vertex counts as the first one: what the file draws there is damaged anyway.
        corners[next++] = this.welded[this.firsts[k] + (vertex < positions.count ? vertex : 0)];
      }
    });
    return corners;
  }

  /** The largest value in the neighbourhood of each vertex of a support; elsewhere values are zero. */
  largest(values: Float64Array, support: Uint32Array): Float64Array {
    const { welded, corners, marked, near } = this;
    let [here, next] = this.values;
    here.fill(0);
    marked.fill(0);
    support.forEach((vertex, k) => {
      const position = welded[vertex];
      marked[position] = 1;
      here[position] = Math.max(here[position], values[k]);
    });
    // Triangles away from the support neither have values nor bring any to it.
    let count = 0;
    for (let k = 0; k < corners.length; k += 3) {
      if (marked[corners[k]] || marked[corners[k + 1]] || marked[corners[k + 2]]) near[count++] = k;
    }
    for (let ring = 0; ring < RINGS; ring++) {
      next.set(here);
      for (let k = 0; k < count; k++) {
        const a = corners[near[k]];
        const b = corners[near[k] + 1];
        const c = corners[near[k] + 2];
        const most = Math.max(here[a], here[b], here[c]);
        if (next[a] < most) next[a] = most;
        if (next[b] < most) next[b] = most;
        if (next[c] < most) next[c] = most;
      }
      [here, next] = [next, here];
    }
    return Float64Array.from(support, (vertex) => here[welded[vertex]]);
  }
}
