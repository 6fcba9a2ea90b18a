/** The morph targets of a primitive as the file stores them: sparse ones stay sparse, so that nothing dense is made. */

import type { TargetData } from "./entries.js";
import { Fields } from "./fields.js";
import type { GltfFile } from "./gltf_file.js";
import type { Vectors } from "./vectors.js";

const INDEX_TYPES = { 5121: Uint8Array, 5123: Uint16Array, 5125: Uint32Array } as const;
const VALUE_TYPES = { 5120: Int8Array, 5122: Int16Array, 5126: Float32Array } as const;
const LARGEST = { 5120: 127, 5122: 32767, 5126: 1 } as const;

/** Some vertices, ascending, and 3 numbers for each. */
interface Sparse {
  vertices: Uint32Array;
  values: Float32Array;
}

/** Read all targets of a primitive; `points` is the accessor of its positions. Throws an Error of one line. */
export async function readTargets(
  file: GltfFile,
  targets: Record<string, number>[],
  points: number,
): Promise<TargetData[]> {
  const { count } = file.json.accessors[points] as { count: number };
  return Promise.all(
    targets.map(async ({ POSITION, NORMAL }) => {
      const positions = POSITION === undefined ? null : await readAccessor(file, POSITION, count);
      const normals = NORMAL === undefined ? null : await readAccessor(file, NORMAL, count);
      return joined(positions, normals);
    }),
  );
}

async function readAccessor(file: GltfFile, index: number, count: number): Promise<Sparse> {
  const accessor = new Fields(file.json.accessors[index], `accessor ${index}`);
  accessor.whole("count", count, count);
  if (!accessor.has("sparse") || accessor.has("bufferView")) {
    return compact(await file.accessor(index), count);
  }
  const sparse = accessor.part("sparse");
  const entries = sparse.whole("count", 0, count);
  const indices = sparse.part("indices");
  const type = accessor.choice("componentType", [5120, 5122, 5126] as const);
  const indexType = indices.choice("componentType", [5121, 5123, 5125] as const);
  const vertices = new Uint32Array(await read(file, indices, INDEX_TYPES[indexType], entries));
  if (vertices.some((vertex, k) => vertex >= count || (k > 0 && vertex <= vertices[k - 1]))) {
    throw new Error(`accessor ${index}: indices: expected ascending vertices below ${count}`);
  }
  const stored = await read(file, sparse.part("values"), VALUE_TYPES[type], 3 * entries);
  const unit = accessor.has("normalized") && accessor.flag("normalized") ? LARGEST[type] : 1;
  const values = new Float32Array(stored);
  if (unit !== 1) for (let k = 0; k < values.length; k++) values[k] /= unit;
  if (!values.every(Number.isFinite)) throw new Error(`accessor ${index}: expected finite numbers`);
  return { vertices, values };
}

async function read<
  T extends { new (buffer: ArrayBuffer): ArrayLike<number> & Iterable<number>; BYTES_PER_ELEMENT: number },
>(file: GltfFile, fields: Fields, type: T, count: number): Promise<InstanceType<T>> {
  const buffer = await file.bufferView(fields.whole("bufferView", 0, file.json.bufferViews.length - 1));
  const start = fields.has("byteOffset") ? fields.whole("byteOffset", 0, buffer.byteLength) : 0;
  const end = start + count * type.BYTES_PER_ELEMENT;
  if (end > buffer.byteLength) throw new Error(`${fields.where}: expected ${count} numbers within the buffer view`);
  return new type(buffer.slice(start, end)) as InstanceType<T>;
}

/** The vertices of a dense accessor that are not zero. */
function compact(dense: Vectors, count: number): Sparse {
  const kept: number[] = [];
  const values: number[] = [];
  for (let vertex = 0; vertex < count; vertex++) {
    const [x, y, z] = [dense.getX(vertex), dense.getY(vertex), dense.getZ(vertex)];
    if (x !== 0 || y !== 0 || z !== 0) {
      kept.push(vertex);
      values.push(x, y, z);
    }
  }
  return { vertices: Uint32Array.from(kept), values: Float32Array.from(values) };
}

/** Points and normals on the vertices of both. */
function joined(points: Sparse | null, normals: Sparse | null): TargetData {
  if (!normals || !points) {
    const only = points ?? normals;
    return {
      vertices: only?.vertices ?? new Uint32Array(0),
      points: points?.values ?? null,
      normals: normals?.values ?? null,
    };
  }
  const same =
    points.vertices.length === normals.vertices.length &&
    points.vertices.every((vertex, k) => vertex === normals.vertices[k]);
  const vertices = same ? points.vertices : Uint32Array.from(new Set([...points.vertices, ...normals.vertices])).sort();
  return { vertices, points: spread(points, vertices), normals: spread(normals, vertices) };
}

function spread({ vertices, values }: Sparse, onto: Uint32Array): Float32Array {
  if (vertices.length === onto.length) return values;
  const wide = new Float32Array(3 * onto.length);
  let row = 0;
  vertices.forEach((vertex, k) => {
    while (onto[row] !== vertex) row++;
    wide.set(values.subarray(3 * k, 3 * k + 3), 3 * row);
  });
  return wide;
}
