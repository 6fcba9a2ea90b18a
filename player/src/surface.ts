/** The triangles of a skin, over all of its primitives: vertices that share a position are one. */

import type { BufferGeometry } from "three";

/** Rings of vertices that make a vertex's neighbourhood. */
const RINGS = 2;

export class Surface {
  /** Of each primitive, the number of its first vertex among those of all. */
  readonly firsts: number[] = [];
  readonly vertices: number;
  /** Of each vertex, the number of its position; the corners of all triangles, as such numbers. */
  private readonly positions: Uint32Array;
  private readonly corners: Uint32Array;
  private readonly marked: Uint8Array;
  private readonly near: Uint32Array;
  private readonly values: [Float64Array, Float64Array];

  constructor(geometries: BufferGeometry[]) {
    let vertices = 0;
    for (const geometry of geometries) {
      this.firsts.push(vertices);
      vertices += geometry.getAttribute("position").count;
    }
    this.vertices = vertices;
    this.positions = new Uint32Array(vertices);
    const count = this.weld(geometries);
    this.corners = this.cornersOf(geometries);
    this.marked = new Uint8Array(count);
    this.near = new Uint32Array(this.corners.length / 3);
    this.values = [new Float64Array(count), new Float64Array(count)];
  }

  /** Number the positions; return how many there are. */
  private weld(geometries: BufferGeometry[]): number {
    const numbers = new Map<string, number>();
    geometries.forEach((geometry, k) => {
      const points = geometry.getAttribute("position");
      for (let vertex = 0; vertex < points.count; vertex++) {
        const key = `${points.getX(vertex)} ${points.getY(vertex)} ${points.getZ(vertex)}`;
        const number = numbers.get(key) ?? numbers.size;
        if (number === numbers.size) numbers.set(key, number);
        this.positions[this.firsts[k] + vertex] = number;
      }
    });
    return numbers.size;
  }

  private cornersOf(geometries: BufferGeometry[]): Uint32Array {
    const counts = geometries.map(({ index, attributes }) => 3 * Math.floor((index ?? attributes.position).count / 3));
    const corners = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
    let at = 0;
    geometries.forEach(({ index, attributes }, k) => {
      for (let corner = 0; corner < counts[k]; corner++) {
        const vertex = index ? index.getX(corner) : corner;
        // A corner that is no vertex counts as the first one: what the file draws there is damaged anyway.
        corners[at++] = this.positions[this.firsts[k] + (vertex < attributes.position.count ? vertex : 0)];
      }
    });
    return corners;
  }

  /** The largest value in the neighbourhood of each vertex of a support; elsewhere values are zero. */
  largest(values: Float64Array, support: Uint32Array): Float64Array {
    const { positions, corners, marked, near } = this;
    let [here, next] = this.values;
    here.fill(0);
    marked.fill(0);
    support.forEach((vertex, k) => {
      const position = positions[vertex];
      marked[position] = 1;
      here[position] = Math.max(here[position], values[k]);
    });
    // Triangles away from the support neither have values nor bring any to it.
    let count = 0;
    for (let at = 0; at < corners.length; at += 3) {
      if (marked[corners[at]] || marked[corners[at + 1]] || marked[corners[at + 2]]) near[count++] = at;
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
    return Float64Array.from(support, (vertex) => here[positions[vertex]]);
  }
}
