/** The mirror partner of each vertex: the one on the other side of the plane x = 0 of the rest shape. */

import type { Topology } from "./topology.js";

/** How far a partner may be from the exact mirror image, over the diagonal of the rest shape's box. */
const TOLERANCE = 1e-3;

/** The partner (N,) of each first vertex of a rest shape (N, 3), itself on the plane; -1 where there is none. */
export function partners(rest: Float32Array, { firsts, count }: Topology): Int32Array {
  const tolerance = TOLERANCE * diagonal(rest);
  const grid = new Grid(rest, firsts, tolerance);
  const nearest = new Int32Array(count).fill(-1);
  for (const vertex of firsts) {
    nearest[vertex] = grid.nearest([-rest[3 * vertex], rest[3 * vertex + 1], rest[3 * vertex + 2]]);
  }
  // Two that would share a partner have none but the one that it chose.
  return nearest.map((other, vertex) => (other >= 0 && nearest[other] === vertex ? other : -1));
}

/** Vertices in cells as wide as the tolerance. */
class Grid {
  private readonly cells = new Map<string, number[]>();

  constructor(
    private readonly points: Float32Array,
    vertices: Uint32Array,
    private readonly tolerance: number,
  ) {
    for (const vertex of vertices) {
      const name = this.cell(points.subarray(3 * vertex, 3 * vertex + 3)).join();
      const cell = this.cells.get(name);
      if (cell) cell.push(vertex);
      else this.cells.set(name, [vertex]);
    }
  }

  /** The vertex nearest to a position within the tolerance, or -1. */
  nearest(position: readonly number[]): number {
    const [i, j, k] = this.cell(position);
    let [best, least] = [-1, this.tolerance];
    for (let near = 0; near < 27; near++) {
      const name = [i + (near % 3) - 1, j + (Math.floor(near / 3) % 3) - 1, k + Math.floor(near / 9) - 1].join();
      for (const vertex of this.cells.get(name) ?? []) {
        const [x, y, z] = position.map((value, axis) => value - this.points[3 * vertex + axis]);
        const distance = Math.hypot(x, y, z);
        if (distance > least) continue;
        [best, least] = [vertex, distance];
      }
    }
    return best;
  }

  private cell(position: ArrayLike<number>): number[] {
    return Array.from(position, (value) => Math.floor(value / this.tolerance));
  }
}

/** The diagonal of the box of points (N, 3). */
function diagonal(points: Float32Array): number {
  const [least, most] = [
    [Infinity, Infinity, Infinity],
    [-Infinity, -Infinity, -Infinity],
  ];
  points.forEach((value, k) => {
    least[k % 3] = Math.min(least[k % 3], value);
    most[k % 3] = Math.max(most[k % 3], value);
  });
  return Math.hypot(...least.map((value, axis) => most[axis] - value)) || 1;
}
