/** Vertices that primitives of a file share: which of the skin's they are, and what the file says of these. */

import { Accessors, isOrdinary } from "../accessors.js";
import { EXTENSION } from "../description.js";
import type { Description } from "../description.js";
import { Fields } from "../fields.js";
import type { GltfFile } from "../gltf_file.js";
import type { Table } from "../vectors.js";
import type { VertexTables } from "./skin_mesh.js";

/** Most vertices of all primitives, each set of them counted once. */
export const MOST_VERTICES = 2 ** 23;

export interface VertexSet {
  count: number;
  /** The skin's vertex of each; null: they are the skin's, in its order. */
  vertices: Uint32Array | null;
  /** Those that are the first ones of their vertex of the skin. */
  firsts: Uint32Array;
  /** The corners of the triangles of its primitives, in their order, as its own vertices. */
  triangles: Uint32Array;
  /** Where the corners of each primitive begin among these, and how many they are. */
  primitives: { mesh: number; primitive: number; first: number; count: number }[];
}

/** A set whose triangles are not read yet. */
export type ReadSet = Omit<VertexSet, "triangles">;

/** Read the vertices of a primitive into the skin's tables; `accessor` has their numbers in the skin, if it is not -1. */
export async function readSet(
  file: GltfFile,
  { grid, gridCentre }: Description,
  attributes: Record<string, number>,
  accessor: number,
  bones: number,
  tables: VertexTables,
): Promise<ReadSet> {
  const positions = await tableOf(file, attributes.POSITION, null);
  const { count } = positions;
  const vertices = await numbersOf(file, accessor, count, tables.seen.length);
  const normals = attributes.NORMAL === undefined ? null : await tableOf(file, attributes.NORMAL, count);
  const number = (row: number) => (vertices ? vertices[row] : row);
  const firsts = Uint32Array.from({ length: count }, (_, row) => row).filter((row) => isNew(tables.seen, number(row)));
  for (const row of firsts) {
    for (let i = 0; i < 3; i++) {
      const at = 3 * number(row) + i;
      tables.rest[at] = ordinary(gridCentre[i] + grid * positions.getComponent(row, i));
      tables.normals[at] = ordinary(normals?.getComponent(row, i) ?? 0);
    }
  }
  for (let four = 0; attributes[`JOINTS_${four}`] !== undefined; four++) {
    const joints = await tableOf(file, attributes[`JOINTS_${four}`], count);
    const weights = await tableOf(file, attributes[`WEIGHTS_${four}`], count);
    for (const row of firsts) {
      writeInfluences(tables, tables.width * number(row) + 4 * four, joints, weights, row, bones);
    }
  }
  for (const row of firsts) checkMoved(tables, tables.width * number(row));
  return { count, vertices, firsts, primitives: [] };
}

function ordinary(value: number): number {
  if (!isOrdinary(value)) throw new Error(`${EXTENSION}: expected vertices of ordinary size`);
  return value;
}

/** Throws where no joint moves a vertex, whose weights begin at `first`. */
function checkMoved({ weights, width }: VertexTables, first: number): void {
  for (let k = first; k < first + width; k++) if (weights[k] > 0) return;
  throw new Error(`${EXTENSION}: expected a joint with a weight above 0 for each vertex`);
}

function writeInfluences(
  tables: VertexTables,
  first: number,
  joints: Table,
  weights: Table,
  row: number,
  bones: number,
): void {
  for (let k = 0; k < 4; k++) {
    const bone = joints.getComponent(row, k);
    const weight = weights.getComponent(row, k);
    if (!(bone < bones && weight >= 0 && weight < Infinity)) {
      throw new Error(`${EXTENSION}: expected joints below ${bones} with weights of at least 0`);
    }
    tables.influences[first + k] = bone;
    tables.weights[first + k] = weight;
  }
}

/** The numbers of vertices in the skin, or null where they are those of its vertices in order. */
async function numbersOf(
  file: GltfFile,
  accessor: number,
  count: number,
  vertices: number,
): Promise<Uint32Array | null> {
  if (accessor < 0) {
    if (count === vertices) return null;
    throw new Error(`${EXTENSION}: vertices: expected ${vertices} in a primitive, or their numbers, got ${count}`);
  }
  const fields = new Fields({ vertices: accessor }, EXTENSION);
  const numbers = await new Accessors(file).wholes(fields, "vertices", count, vertices);
  return count === vertices && numbers.every((number, row) => number === row) ? null : numbers;
}

/** The rows of an accessor that the file has, as many as there are vertices if their number is given. */
async function tableOf(file: GltfFile, index: number | undefined, count: number | null): Promise<Table> {
  const { accessors } = file.json;
  const fields = new Fields(
    accessors[new Fields({ index }, EXTENSION).whole("index", 0, accessors.length - 1)],
    EXTENSION,
  );
  fields.whole("count", count ?? 0, count ?? MOST_VERTICES);
  return file.accessor(index ?? 0);
}

/** Whether a vertex was not seen before; it is from now on. */
function isNew(seen: Uint8Array, vertex: number): boolean {
  if (seen[vertex]) return false;
  seen[vertex] = 1;
  return true;
}
