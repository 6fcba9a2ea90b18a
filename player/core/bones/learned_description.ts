/** What version 2 of the extension says of learned bones, checked: every index is in range, every array of its size. */

import { isOrdinary } from "../accessors.js";
import type { Accessors, Packed } from "../accessors.js";
import { EXTENSION } from "../description.js";
import type { Description } from "../description.js";
import type { Fields } from "../fields.js";

/** Most bones: their positions are solved for together. */
const MOST_BONES = 2000;

/** Numbers that a pose may read of samples beside those of the file: many bones may share a few of these. */
const MOST_SHARED = 2 ** 22;

/** Virtual bones whose rotations kernel models predict from control points. All lengths and axes are the file's. */
export interface LearnedDescription {
  bones: number;
  /** The vertices of the skin that the M control points are on, their positions at rest, and their anchor weights. */
  points: Uint32Array;
  rest: Float64Array;
  anchors: Float64Array;
  /** S examples: (S, M, 3) positions of the control points. */
  sampleCount: number;
  samples: Float64Array;
  /** (B, C) the control points that influence each bone, and their weights in its local frame; null: no frames. */
  nearCount: number;
  near: Uint32Array;
  holds: Float64Array | null;
  /** L models per bone, of which the nearest are blended: (B, L) widths, (B) heat, (B, L, V), (B, L, S, V). */
  models: number;
  blended: number;
  widths: Float64Array;
  heat: Float32Array;
  values: number;
  offsets: Float32Array;
  coefficients: Float32Array;
  /** (B, 3) the middle of each bone at rest. */
  centres: Float64Array;
  /** The weight of the control points in the solve for positions. */
  beta: number;
  /** (N, P) the joints that move each vertex in plain skinning, and their weights. */
  plainCount: number;
  plainInfluences: Uint32Array;
  plainWeights: Float32Array;
  corrections: Corrections | null;
  /** The vertices of ties, two each. */
  ties: Uint32Array;
}

/** K displacements of the rest shape: (K, N, 3) numbers, and of each the length of one unit. */
export interface Corrections {
  count: number;
  values: Packed;
  scales: Float64Array;
}

/** Read the part `bones` of a file whose joints are the root and the control points, and that has so many vertices. */
export async function readLearned(
  fields: Fields,
  accessors: Accessors,
  { joints, numbers }: Description,
  vertices: number,
): Promise<LearnedDescription> {
  const count = joints.length - 1;
  const bones = accessors.count(fields, "heat");
  if (count < 1 || bones < 1 || bones > MOST_BONES) {
    throw new Error(`${fields.where}: expected control points and 1 to ${MOST_BONES} bones, got ${count} and ${bones}`);
  }
  const points = await accessors.wholes(fields, "points", count, vertices);
  if (new Set(points).size < count) throw new Error(`${fields.where}: points: expected each vertex once`);
  const doubles = inDouble(fields, numbers, {
    rest: await accessors.floats(fields, "rest", 3 * count),
    samples: await accessors.floats(fields, "samples", null, 3 * count),
    widths: await accessors.floats(fields, "widths", null, bones),
  });
  const near = await accessors.wholes(fields, "near", null, count, bones);
  const corrections = fields.has("corrections")
    ? await readCorrections(fields.part("corrections"), accessors, vertices)
    : null;
  const models = await readModels(fields, accessors, bones, doubles.samples.length / (3 * count), doubles.widths);
  checkModels(fields, models, near.length, corrections?.count ?? 0);
  const plain = fields.part("plain");
  const plainInfluences = await accessors.wholes(plain, "influences", null, joints.length, vertices);
  const plainWeights = await accessors.floats(plain, "weights", plainInfluences.length);
  checkShares(plain, "weights", plainWeights, plainInfluences.length / vertices);
  const beta = fields.number("beta");
  checkBeta(beta);
  return {
    ...doubles,
    ...models,
    bones,
    points,
    anchors: shares(fields, "anchors", await accessors.floats(fields, "anchors", count), count),
    nearCount: near.length / bones,
    near,
    holds: fields.has("holds")
      ? shares(fields, "holds", await accessors.floats(fields, "holds", near.length), near.length / bones)
      : null,
    centres: Float64Array.from(await accessors.floats(fields, "centres", 3 * bones)),
    beta,
    plainCount: plainInfluences.length / vertices,
    plainInfluences,
    plainWeights,
    corrections,
    ties: fields.has("ties") ? await accessors.wholes(fields, "ties", null, vertices, 2) : new Uint32Array(0),
  };
}

/** What a bone's kernel models are made of. */
type Models = Pick<
  LearnedDescription,
  "sampleCount" | "models" | "blended" | "widths" | "heat" | "values" | "offsets" | "coefficients"
>;

async function readModels(
  fields: Fields,
  accessors: Accessors,
  bones: number,
  sampleCount: number,
  widths: Float64Array,
): Promise<Models> {
  const models = widths.length / bones;
  if (models !== 1 && models !== sampleCount) {
    throw new Error(`${fields.where}: widths: expected 1 or ${sampleCount} models per bone, got ${models}`);
  }
  const offsets = await accessors.floats(fields, "offsets", null, widths.length);
  return {
    sampleCount,
    models,
    blended: fields.whole("blended", 1, models),
    widths,
    heat: await accessors.floats(fields, "heat", bones),
    values: offsets.length / widths.length,
    offsets,
    coefficients: await accessors.floats(fields, "coefficients", offsets.length * sampleCount),
  };
}

/** Throws where models cannot be evaluated, or not in time; `near` is how many control points all bones see. */
function checkModels({ where }: Fields, models: Models, near: number, corrections: number): void {
  const { widths, heat, values, sampleCount, coefficients } = models;
  if (values < 4 + corrections) {
    throw new Error(`${where}: offsets: expected at least ${4 + corrections} numbers per model, got ${values}`);
  }
  if (!widths.every(isLength)) throw new Error(`${where}: widths: expected above 0`);
  if (!heat.every(isLength)) throw new Error(`${where}: heat: expected above 0`);
  const compared = 3 * sampleCount * near;
  if (compared <= MOST_SHARED + coefficients.length) return;
  throw new Error(`${where}: near: expected fewer control points per bone: ${compared} numbers for a pose`);
}

function isLength(value: number): boolean {
  return value > 1e-30;
}

interface Doubles {
  rest: Float64Array;
  samples: Float64Array;
  widths: Float64Array;
}

/** Arrays in double precision: what large coefficients multiply is stored in it too, one after the other. */
function inDouble(fields: Fields, numbers: Float64Array, rounded: { [name in keyof Doubles]: Float32Array }): Doubles {
  let start = fields.has("exact") ? fields.whole("exact", 0, numbers.length) : -1;
  const doubled = (values: Float32Array) => {
    if (start < 0) return Float64Array.from(values);
    const exact = numbers.subarray(start, (start += values.length));
    if (exact.length < values.length || !exact.every(isOrdinary)) {
      throw new Error(`${fields.where}: exact: expected numbers of ordinary size within the buffer`);
    }
    return exact;
  };
  return { rest: doubled(rounded.rest), samples: doubled(rounded.samples), widths: doubled(rounded.widths) };
}

/** Throws unless a number is one that the solve for positions can take. */
export function checkBeta(beta: number): void {
  if (!(beta >= 1e-9 && beta <= 1e9)) throw new Error(`${EXTENSION}: beta: expected 1e-9 to 1e9, got ${beta}`);
}

async function readCorrections(fields: Fields, accessors: Accessors, vertices: number): Promise<Corrections> {
  const { values, scales } = await accessors.packed(fields, "values", 3 * vertices);
  return { count: scales.length, values, scales };
}

/** Numbers of at least 0, each row of `width` scaled to sum to one. */
function shares(fields: Fields, name: string, values: Float32Array, width: number): Float64Array {
  checkShares(fields, name, values, width);
  const scaled = Float64Array.from(values);
  for (let start = 0; start < scaled.length; start += width) {
    const row = scaled.subarray(start, start + width);
    const total = row.reduce((sum, value) => sum + value, 0);
    if (Math.abs(total - 1) > 1e-6) for (let k = 0; k < width; k++) row[k] /= total;
  }
  return scaled;
}

/** Throws where a number is below 0, or a row of `width` sums to 0. */
function checkShares({ where }: Fields, name: string, values: Float32Array, width: number): void {
  let total = 0;
  for (let k = 0; k < values.length; k++) {
    total += values[k];
    const isEnd = k % width === width - 1;
    if (!(values[k] >= 0) || (isEnd && !(total > 1e-30))) {
      throw new Error(`${where}: ${name}: expected numbers of at least 0 that do not sum to 0`);
    }
    if (isEnd) total = 0;
  }
}
