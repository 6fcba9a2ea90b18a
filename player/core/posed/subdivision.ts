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
  let faces = triangles.length / 3;
  let edges = levels ? new Edges(triangles, vertices).count : 0;
  for (let k = 0; k < levels; k++) {
    vertices += edges;
    // Each edge splits in two, and each triangle gains three inner edges.
    edges = 2 * edges + 3 * faces;
    faces *= 4;
  }
  return vertices;
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
