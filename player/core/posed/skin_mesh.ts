/** The coarse surface of a skin at rest, put together from the primitives of a file, whose vertices may be split. */

import { bindingOf } from "../bones/binding.js";
import type { Binding } from "../bones/binding.js";
import { EXTENSION } from "../description.js";
import type { Description } from "../description.js";
import type { GltfFile, MeshJson, PrimitiveJson } from "../gltf_file.js";
import { CornerReader } from "./corners.js";
import { MOST_VERTICES, readSet } from "./vertex_set.js";
import type { ReadSet, VertexSet } from "./vertex_set.js";

/** Most bones of a vertex. */
const MOST_INFLUENCES = 16;

/** The mode of a primitive of triangles; larger ones are strips and fans, smaller ones no surfaces. */
const TRIANGLES = 4;

/** A mesh of a file that belongs to its skin. */
export interface DrivenMesh {
  number: number;
  json: MeshJson;
  /** Of each primitive the accessor of its vertices' numbers in the skin, or -1: they are the skin's vertices. */
  vertices: number[];
}

export interface SkinMesh {
  vertices: number;
  /** (N, 3) at rest, and normals there. */
  rest: Float64Array;
  normals: Float32Array;
  /** Corners, three per triangle, in an order of their own. */
  triangles: Uint32Array;
  binding: Binding;
  sets: VertexSet[];
}

/** The tables that vertices are read into. */
export interface VertexTables {
  rest: Float64Array;
  normals: Float32Array;
  /** (N, P) bones and weights. */
  width: number;
  influences: Uint16Array;
  weights: Float32Array;
  /** 1 for each vertex that was read. */
  seen: Uint8Array;
}

/** Read the surface of a skin of so many vertices and bones. */
export async function readSkinMesh(
  file: GltfFile,
  description: Description,
  meshes: DrivenMesh[],
  vertices: number,
  bones: number,
): Promise<SkinMesh> {
  const width = Math.max(1, ...meshes.flatMap(({ json }) => json.primitives.map(influenceCount)));
  if (width > MOST_INFLUENCES) throw new Error(`${EXTENSION}: expected at most ${MOST_INFLUENCES} joints per vertex`);
  const tables = {
    rest: new Float64Array(3 * vertices),
    normals: new Float32Array(3 * vertices),
    width,
    influences: new Uint16Array(width * vertices),
    weights: new Float32Array(width * vertices),
    seen: new Uint8Array(vertices),
  };
  const sets = await readSets(file, description, meshes, bones, tables);
  const { rest, normals, influences, weights, seen } = tables;
  if (seen.includes(0)) throw new Error(`${EXTENSION}: vertices: expected all ${vertices} in the meshes of the file`);
  const triangles = inOrder(joined(sets.map((set) => skinCorners(set))), vertices);
  const binding = bindingOf(influences, weights, width);
  return { vertices, rest, normals, triangles, binding, sets };
}

async function readSets(
  file: GltfFile,
  description: Description,
  meshes: DrivenMesh[],
  bones: number,
  tables: VertexTables,
): Promise<VertexSet[]> {
  const sets = new Map<string, { set: ReadSet; parts: Uint32Array[]; size: number }>();
  const corners = new CornerReader(file);
  let count = 0;
  for (const { number, json, vertices: accessors } of meshes) {
    for (let k = 0; k < json.primitives.length; k++) {
      const primitive = json.primitives[k];
      if ((primitive.mode ?? TRIANGLES) > TRIANGLES) throw new Error(`mesh ${number}: expected no strips or fans`);
      if ((primitive.mode ?? TRIANGLES) < TRIANGLES) continue;
      const key = JSON.stringify([primitive.attributes, accessors[k]]);
      let shared = sets.get(key);
      if (!shared) {
        const set = await readSet(file, description, primitive.attributes, accessors[k], bones, tables);
        shared = { set, parts: [], size: 0 };
        sets.set(key, shared);
        count += set.count;
        if (count > MOST_VERTICES) throw new Error(`mesh ${number}: expected at most ${MOST_VERTICES} vertices in all`);
      }
      const added = await corners.read(primitive, shared.set.count);
      shared.set.primitives.push({ mesh: number, primitive: k, first: shared.size, count: added.length });
      shared.parts.push(added);
      shared.size += added.length;
    }
  }
  return [...sets.values()].map(({ set, parts }) => ({ ...set, triangles: joined(parts) }));
}

function influenceCount({ attributes }: PrimitiveJson): number {
  let count = 0;
  while (attributes[`JOINTS_${count}`] !== undefined) count++;
  return 4 * count;
}

function skinCorners({ vertices, triangles }: VertexSet): Uint32Array {
  return vertices ? triangles.map((corner) => vertices[corner]) : triangles;
}

/** Triangles in the order of their lowest corner: neighbours are near each other in memory. */
function inOrder(triangles: Uint32Array, vertices: number): Uint32Array {
  const lowest = (t: number) => Math.min(triangles[t], triangles[t + 1], triangles[t + 2]);
  const next = new Uint32Array(vertices + 1);
  for (let t = 0; t < triangles.length; t += 3) next[lowest(t) + 1] += 3;
  for (let vertex = 0; vertex < vertices; vertex++) next[vertex + 1] += next[vertex];
  const ordered = new Uint32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const low = lowest(t);
    ordered.set(triangles.subarray(t, t + 3), next[low]);
    next[low] += 3;
  }
  return ordered;
}

function joined(parts: Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let next = 0;
  for (const part of parts) {
    all.set(part, next);
    next += part.length;
  }
  return all;
}
