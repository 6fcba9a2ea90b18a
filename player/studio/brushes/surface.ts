/** The posed surface that brushes move: welded vertices move together, and normals follow where something moved. */

import type { Topology } from "./topology.js";

export class SculptSurface {
  /** Unit normals (N, 3), smooth: those of welded vertices are one, but for the two sides of a sheet. */
  readonly normals: Float32Array;
  private readonly changed: Marks;
  private readonly stale: Marks;

  /** @param points (N, 3) posed, which are changed in place */
  constructor(
    readonly points: Float32Array,
    readonly topology: Topology,
  ) {
    this.normals = new Float32Array(points.length);
    this.changed = new Marks(topology.count);
    this.stale = new Marks(topology.count);
    for (const vertex of topology.firsts) this.updateNormal(vertex);
  }

  /** Move weld groups, named by their first vertices (K,), by displacements (K, 3). */
  move(vertices: Uint32Array, displacements: Float32Array): void {
    const { points, topology } = this;
    vertices.forEach((vertex, k) => {
      for (const member of topology.members.row(vertex)) {
        points[3 * member] += displacements[3 * k];
        points[3 * member + 1] += displacements[3 * k + 1];
        points[3 * member + 2] += displacements[3 * k + 2];
      }
      this.changed.add(vertex);
    });
  }

  /** Set the positions (K, 3) of vertices (K,): all members of their weld groups. */
  set(vertices: Uint32Array, positions: Float32Array): void {
    vertices.forEach((vertex, k) => {
      this.points.set(positions.subarray(3 * k, 3 * k + 3), 3 * vertex);
      this.changed.add(this.topology.weld[vertex]);
    });
  }

  /** The first vertices that moved since this was asked last; their normals, and those beside them, are brought up to date. */
  settle(): Uint32Array {
    const { triangles, weld, around } = this.topology;
    const moved = this.changed.take();
    for (const vertex of moved) {
      for (const triangle of around.row(vertex)) {
        for (let k = 0; k < 3; k++) this.stale.add(weld[triangles[3 * triangle + k]]);
      }
    }
    for (const vertex of this.stale.take()) this.updateNormal(vertex);
    return moved;
  }

  /** Give each member of a weld group the sum of its triangles' normals, by area, and of those of members that face its way. */
  private updateNormal(vertex: number): void {
    const members = this.topology.members.row(vertex);
    const sums = this.normalSums(vertex, members);
    members.forEach((member, k) => {
      const total = [0, 0, 0];
      for (let other = 0; other < members.length; other++) {
        if (!alike(sums, k, other)) continue;
        for (let axis = 0; axis < 3; axis++) total[axis] += sums[3 * other + axis];
      }
      const length = Math.hypot(...total) || 1;
      for (let axis = 0; axis < 3; axis++) this.normals[3 * member + axis] = total[axis] / length;
    });
  }

  /** The sums (K, 3) of the normals of the triangles at each member of a weld group, as long as twice their areas. */
  private normalSums(vertex: number, members: Uint32Array): Float64Array {
    const { points, topology } = this;
    const { triangles, weld } = topology;
    const sums = new Float64Array(3 * members.length);
    for (const triangle of topology.around.row(vertex)) {
      const a = 3 * triangles[3 * triangle];
      const b = 3 * triangles[3 * triangle + 1];
      const c = 3 * triangles[3 * triangle + 2];
      const [bx, by, bz] = [points[b] - points[a], points[b + 1] - points[a + 1], points[b + 2] - points[a + 2]];
      const [cx, cy, cz] = [points[c] - points[a], points[c + 1] - points[a + 1], points[c + 2] - points[a + 2]];
      for (const corner of [a / 3, b / 3, c / 3]) {
        if (weld[corner] !== vertex) continue;
        const k = 3 * members.indexOf(corner);
        sums[k] += by * cz - bz * cy;
        sums[k + 1] += bz * cx - bx * cz;
        sums[k + 2] += bx * cy - by * cx;
      }
    }
    return sums;
  }
}

/** Whether two of some vectors (K, 3) point less than 120 degrees apart: the two sides of a sheet do not. */
function alike(vectors: Float64Array, k: number, other: number): boolean {
  if (k === other) return true;
  const [a, b] = [vectors.subarray(3 * k, 3 * k + 3), vectors.subarray(3 * other, 3 * other + 3)];
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] >= -0.5 * Math.hypot(...a) * Math.hypot(...b);
}

/** A set of vertices that is filled and emptied often. */
class Marks {
  private readonly marked: Uint8Array;
  private readonly list: number[] = [];

  constructor(count: number) {
    this.marked = new Uint8Array(count);
  }

  add(vertex: number): void {
    if (this.marked[vertex]) return;
    this.marked[vertex] = 1;
    this.list.push(vertex);
  }

  /** All of it, which is empty then. */
  take(): Uint32Array {
    const all = Uint32Array.from(this.list);
    for (const vertex of all) this.marked[vertex] = 0;
    this.list.length = 0;
    return all;
  }
}
