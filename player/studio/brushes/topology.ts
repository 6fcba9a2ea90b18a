/** Which vertices of a mesh are one, and which are beside one another: what no brush changes. */

import { Rows } from "./rows.js";

export class Topology {
  /** The vertices that stand for all at their position: the first of each weld group, in order. */
  readonly firsts: Uint32Array;
  /** The vertices of each weld group, by its first vertex; of the others none. */
  readonly members: Rows;
  /** The triangles at each first vertex. */
  readonly around: Rows;
  /** The first vertices beside each first vertex. */
  readonly beside: Rows;
  /** 1 for the first vertices on an open edge (N,). */
  readonly open: Uint8Array;

  /**
   * @param triangles (T, 3) vertices
   * @param weld (N,) of each vertex, the first one at its rest position
   */
  constructor(
    readonly triangles: Int32Array,
    readonly weld: Int32Array,
  ) {
    const { length } = weld;
    const every = Uint32Array.from(weld, (_, vertex) => vertex);
    this.firsts = every.filter((vertex) => weld[vertex] === vertex);
    this.members = Rows.of(length, weld, every);
    const corners = triangles.map((vertex) => weld[vertex]);
    this.around = Rows.of(
      length,
      corners,
      corners.map((_, corner) => Math.floor(corner / 3)),
    );
    const { edges, uses } = edgesOf(corners, length);
    this.beside = Rows.of(
      length,
      edges.map((edge) => Math.floor(edge / length)),
      edges.map((edge) => edge % length),
    );
    this.open = new Uint8Array(length);
    edges.forEach((edge, k) => {
      if (uses[k] === 1) this.open[Math.floor(edge / length)] = 1;
    });
  }

  /** How many vertices there are. */
  get count(): number {
    return this.weld.length;
  }
}

/** The edges of triangles, each in both directions as from * count + to, and how many triangles use each. */
function edgesOf(corners: Int32Array, count: number): { edges: Float64Array; uses: Uint8Array } {
  const all = new Float64Array(2 * corners.length);
  let length = 0;
  for (let corner = 0; corner < corners.length; corner++) {
    const from = corners[corner];
    const to = corners[corner % 3 === 2 ? corner - 2 : corner + 1];
    if (from === to) continue;
    all[length++] = from * count + to;
    all[length++] = to * count + from;
  }
  const sorted = all.subarray(0, length).sort();
  const uses = new Uint8Array(length);
  let kept = 0;
  for (let k = 0; k < length; k++) {
    if (!kept || sorted[k] !== sorted[kept - 1]) sorted[kept++] = sorted[k];
    uses[kept - 1] = Math.min(255, uses[kept - 1] + 1);
  }
  return { edges: sorted.subarray(0, kept), uses: uses.subarray(0, kept) };
}
