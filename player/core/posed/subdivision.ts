/** Subdivision: each triangle in four at its edges' midpoints, so that coarse and fine levels correspond. */

import { Edges } from "./edges.js";

/** How often a surface is subdivided at most: each level has four times the triangles. */
export const MOST_LEVELS = 6;

/** One level: its vertices are those of the coarser one, then one per edge of it, in the middle. */
export interface Level {
  /** How many vertices the coarser level has, and the edges between these. */
  vertices: number;
  edges: Edges;
  /** The corners of the fine triangles; those of the coarse triangle t are the four from 4 t on. */
  triangles: Uint32Array;
}

/** Subdivide triangles of a surface of so many vertices, `count` times. */
export function levelsOf(triangles: Uint32Array, vertices: number, count: number): Level[] {
  const levels: Level[] = [];
  for (let k = 0; k < count; k++) {
    const level = subdivide(triangles, vertices);
    levels.push(level);
    triangles = level.triangles;
    vertices += level.edges.count;
  }
  return levels;
}

/** Return the vertex of the coarsest surface that a fine one is, or on an edge of which it is. */
export function coarseVertex(levels: Level[], vertex: number): number {
  return levels.reduceRight(
    (fine, { vertices, edges }) => (fine < vertices ? fine : edges.lows[fine - vertices]),
    vertex,
  );
}

function subdivide(triangles: Uint32Array, vertices: number): Level {
  const edges = new Edges(triangles, vertices);
  const fine = new Uint32Array(4 * triangles.length);
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [triangles[k], triangles[k + 1], triangles[k + 2]];
    const ab = vertices + edges.find(a, b);
    const bc = vertices + edges.find(b, c);
    const ca = vertices + edges.find(c, a);
    fine.set([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], 4 * k);
  }
  return { vertices, edges, triangles: fine };
}

/** How many vertices a surface has after so many levels, without making them. */
export function fineVertexCount(triangles: Uint32Array, vertices: number, levels: number): number {
  if (!levels) return vertices;
  const known = new Edges(triangles, vertices);
  let loops = known.lows.reduce((sum, low, k) => (low === known.highs[k] ? sum + 1 : sum), 0);
  let edges = known.count - loops;
  let { faces, flat, points, pairs } = kindsOf(triangles, vertices, known);
  for (let k = 0; k < levels; k++) {
    vertices += edges + loops;
    // Each edge splits in two, but one from a vertex to itself stays one. A triangle gains three inner edges, a flat
    // a a b, with n in the middle of a and b, two, of which n n is also that of b b a.
    [edges, loops] = [2 * edges + loops + 3 * faces + flat, pairs + points];
    [faces, flat] = [4 * faces + flat, 2 * flat + points];
    pairs = flat;
  }
  return vertices;
}

/**
 * How many triangles of different corners there are: triangles of the same corners have the same edges on all levels.
 * `flat` ones name a vertex twice, these two of `pairs`, and `points` three times; `faces` are all others.
 */
function kindsOf(triangles: Uint32Array, vertices: number, edges: Edges) {
  const keys = new Float64Array(triangles.length / 3);
  const pairs = new Set<number>();
  for (let t = 0; t < keys.length; t++) {
    const [a, b, c] = [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]];
    const [low, high] = [Math.min(a, b, c), Math.max(a, b, c)];
    keys[t] = edges.find(low, a + b + c - low - high) * vertices + high;
  }
  let [faces, flat, points] = [0, 0, 0];
  keys.sort().forEach((key, k) => {
    if (k && key === keys[k - 1]) return;
    const edge = Math.floor(key / vertices);
    const [a, b, c] = [edges.lows[edge], edges.highs[edge], key % vertices];
    if (a === c) points++;
    else if (a === b || b === c) {
      flat++;
      pairs.add(a * vertices + c);
    } else faces++;
  });
  return { faces, flat, points, pairs: pairs.size };
}

/** Return rows of `width` numbers of the finest level from those of the coarsest: of a midpoint the mean of its ends. */
export function refined(levels: Level[], values: Float64Array, width: number): Float64Array {
  const last = levels[levels.length - 1];
  if (!last) return values;
  const fine = new Float64Array(width * (last.vertices + last.edges.count));
  fine.set(values);
  for (const level of levels) refine(level, fine, width);
  return fine;
}

/** Write rows of `width` numbers of a level's midpoints, the mean of their ends, after those of its coarser vertices. */
export function refine({ vertices, edges }: Level, values: Float64Array | Float32Array, width: number): void {
  const { lows, highs, count } = edges;
  let at = width * vertices;
  for (let edge = 0; edge < count; edge++) {
    let a = width * lows[edge];
    let b = width * highs[edge];
    for (let k = 0; k < width; k++) values[at++] = 0.5 * (values[a++] + values[b++]);
  }
}
