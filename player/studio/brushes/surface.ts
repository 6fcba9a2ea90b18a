/** The posed surface that brushes move: welded vertices move together, and normals follow where something moved. */

import type { Topology } from "./topology.js";

export class SculptSurface {
  /** Unit normals (N, 3), smooth: those of welded vertices are one. */
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

  /** Sum the normals of the triangles at a first vertex, by their areas. */
  private updateNormal(vertex: number): void {
    const { points, normals, topology } = this;
    const { triangles } = topology;
    let [x, y, z] = [0, 0, 0];
    for (const triangle of topology.around.row(vertex)) {
      const a = 3 * triangles[3 * triangle];
      const b = 3 * triangles[3 * triangle + 1];
      const c = 3 * triangles[3 * triangle + 2];
      const [bx, by, bz] = [points[b] - points[a], points[b + 1] - points[a + 1], points[b + 2] - points[a + 2]];
      const [cx, cy, cz] = [points[c] - points[a], points[c + 1] - points[a + 1], points[c + 2] - points[a + 2]];
      x += by * cz - bz * cy;
      y += bz * cx - bx * cz;
      z += bx * cy - by * cx;
    }
    const length = Math.hypot(x, y, z) || 1;
    for (const member of topology.members.row(vertex)) {
      normals[3 * member] = x / length;
      normals[3 * member + 1] = y / length;
      normals[3 * member + 2] = z / length;
    }
  }
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
