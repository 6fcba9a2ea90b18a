/** The vertices of primitives, subdivided as the skin's are: seams stay split, and each knows its vertex of the skin. */

import { levelsOf } from "./subdivision.js";
import type { Level } from "./subdivision.js";
import type { VertexSet } from "./vertex_set.js";

export interface FineSet {
  count: number;
  /** The fine vertex of the skin that each is; null: they are the skin's, in its order. */
  vertices: Uint32Array | null;
  levels: Level[];
  /** The corners of the fine triangles, those of its primitives one after the other. */
  triangles: Uint32Array;
  /** Where the corners of each primitive begin among these, and how many they are. */
  primitives: VertexSet["primitives"];
}

/** Subdivide the sets of a skin whose own subdivision has these levels. */
export function fineSets(sets: VertexSet[], levels: Level[]): FineSet[] {
  const factor = 4 ** levels.length;
  return sets.map((set) => {
    const isSkin = sets.length === 1 && !set.vertices;
    // A primitive that is the whole skin is subdivided already; several are in another order than the skin's triangles.
    const isDone = isSkin && set.primitives.length === 1 && levels.length > 0;
    const own = isDone ? levels : levelsOf(set.triangles, set.count, levels.length);
    const last = own[own.length - 1];
    return {
      count: last ? last.vertices + last.edges.count : set.count,
      vertices: isSkin ? null : fineVertices(set, own, levels),
      levels: own,
      triangles: last?.triangles ?? set.triangles,
      primitives: set.primitives.map(({ mesh, primitive, first, count }) => {
        return { mesh, primitive, first: factor * first, count: factor * count };
      }),
    };
  });
}

function fineVertices(set: VertexSet, own: Level[], levels: Level[]): Uint32Array {
  const last = own[own.length - 1];
  const fine = new Uint32Array(last ? last.vertices + last.edges.count : set.count);
  for (let k = 0; k < set.count; k++) fine[k] = set.vertices ? set.vertices[k] : k;
  own.forEach(({ vertices, edges }, k) => {
    const skin = levels[k];
    for (let edge = 0; edge < edges.count; edge++) {
      const [a, b] = [fine[edges.lows[edge]], fine[edges.highs[edge]]];
      fine[vertices + edge] = skin.vertices + skin.edges.find(a, b);
    }
  });
  return fine;
}
