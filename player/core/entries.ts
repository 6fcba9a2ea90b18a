/**
 * Displacements packed by vertex: each vertex has only the entries whose supports hold it, so that the vertex shader
 * reads what it needs and nothing else.
 *
 * An entry is four numbers: x, y, z, and how many slots it is after the vertex's entry before (the first one counts from
 * -1); where normals are corrected, four more: x, y, z of that, and nothing. A slot is a component, or after these a
 * blend shape that the rig's file had.
 */

import type { Target } from "./description.js";

/** What a morph target holds of one primitive: some vertices, and 3 numbers for each. */
export interface TargetData {
  vertices: Uint32Array;
  points: Float32Array | null;
  normals: Float32Array | null;
}

export type Values = Int8Array | Int16Array | Float32Array;

/** The packed displacements of a primitive. */
export interface Entries {
  /** Of each vertex, where its entries begin and how many there are. */
  spans: Uint32Array;
  values: Values;
  /** Numbers per entry: 4, or 8 with normals. */
  stride: 4 | 8;
  bits: 32 | 16 | 8;
}

/** Per slot, what one unit of its coordinate is in steps of the packed numbers. */
export interface Slots {
  count: number;
  pointSteps: Float64Array;
  normalSteps: Float64Array;
  /** The target that each slot is read from. */
  targets: Int32Array;
}

const LARGEST = { 8: 127, 16: 32767, 32: 1 << 24 } as const;

/** The slots of a mesh: its components, in the order of their coordinates, then blend shapes that the rig's file had. */
export function slotsOf(targets: Target[]): Slots {
  const used = [...targets.keys()].filter((k) => targets[k].kind === "component" || targets[k].kind === "blend");
  const order = (k: number) => (targets[k].kind === "blend" ? Infinity : targets[k].coordinate);
  // Infinity less itself is no number: blend shapes stay in their order.
  const chosen = used.sort((a, b) => order(a) - order(b) || a - b);
  const step = (name: "step" | "normalStep") => Float64Array.from(chosen, (k) => targets[k][name]);
  return {
    count: chosen.length,
    pointSteps: step("step"),
    normalSteps: step("normalStep"),
    targets: Int32Array.from(chosen),
  };
}

/** Pack the targets of a primitive of so many vertices. */
export function pack(targets: Target[], slots: Slots, data: TargetData[], vertices: number): Entries {
  const bits = slots.targets.reduce((most, target) => Math.max(most, targets[target].bits), 8) as 8 | 16 | 32;
  const walk = (visit: (vertex: number, skipped: number, target: TargetData, row: number, slot: number) => void) => {
    const last = new Int32Array(vertices).fill(-1);
    slots.targets.forEach((number, slot) => {
      const target = data[number];
      target.vertices.forEach((vertex, row) => {
        visit(vertex, slot - last[vertex], target, row, slot);
        last[vertex] = slot;
      });
    });
  };
  const spans = new Uint32Array(2 * vertices);
  const largest = LARGEST[bits];
  walk((vertex, skipped) => {
    spans[2 * vertex + 1] += Math.ceil(skipped / largest);
  });
  let total = 0;
  for (let vertex = 0; vertex < vertices; vertex++) {
    spans[2 * vertex] = total;
    total += spans[2 * vertex + 1];
  }
  const stride = data.some((target) => target.normals !== null) ? 8 : 4;
  const values = new { 32: Float32Array, 16: Int16Array, 8: Int8Array }[bits](stride * total);
  const next = Uint32Array.from({ length: vertices }, (_, vertex) => spans[2 * vertex]);
  walk((vertex, skipped, target, row, slot) => {
    // A step too long for one entry is made by entries that move nothing.
    for (; skipped > largest; skipped -= largest) values[stride * next[vertex]++ + 3] = largest;
    const start = stride * next[vertex]++;
    const { scale, bits: targetBits } = targets[slots.targets[slot]];
    write(values, start, target.points, row, scale * slots.pointSteps[slot], targetBits);
    values[start + 3] = skipped;
    if (stride === 8) write(values, start + 4, target.normals, row, scale * slots.normalSteps[slot], targetBits);
  });
  return { spans, values, stride, bits };
}

function write(
  out: Values,
  start: number,
  values: Float32Array | null,
  row: number,
  unit: number,
  bits: 8 | 16 | 32,
): void {
  if (!values) return;
  const round = bits < 32;
  const most = LARGEST[bits];
  for (let k = 0; k < 3; k++) {
    const value = values[3 * row + k] / unit;
    // Where a file was rounded to other whole numbers, the largest may come out a little larger.
    out[start + k] = round ? Math.max(-most, Math.min(most, Math.round(value))) : value;
  }
}

/** Write what a step of each slot's packed numbers weighs, two numbers per slot; `value` gives the value of a target. */
export function weigh(slots: Slots, value: (target: number) => number, weights: Float32Array): void {
  for (let slot = 0; slot < slots.count; slot++) {
    const amount = value(slots.targets[slot]);
    weights[2 * slot] = amount * slots.pointSteps[slot];
    weights[2 * slot + 1] = amount * slots.normalSteps[slot];
  }
}

/** Add the displacement of a vertex to `out` (3), read as the shader reads it; `weights` has two numbers per slot. */
export function displace(entries: Entries, vertex: number, weights: Float32Array, out: Float64Array): void {
  const { spans, values, stride } = entries;
  let slot = -1;
  for (let k = 0; k < spans[2 * vertex + 1]; k++) {
    const start = stride * (spans[2 * vertex] + k);
    slot += values[start + 3];
    const weight = weights[2 * slot];
    for (let i = 0; i < 3; i++) out[i] += weight * values[start + i];
  }
}

/** Return what each layer displaces a vertex by, read as the shader reads it: 3 numbers by the number of the layer. */
export function displacementsByLayer(
  entries: Entries,
  vertex: number,
  weights: Float32Array,
  slots: Slots,
  targets: Target[],
): Map<number, number[]> {
  const { spans, values, stride } = entries;
  const sums = new Map<number, number[]>();
  let slot = -1;
  for (let k = 0; k < spans[2 * vertex + 1]; k++) {
    const start = stride * (spans[2 * vertex] + k);
    slot += values[start + 3];
    const { kind, layer } = targets[slots.targets[slot]] ?? {};
    if (kind !== "component") continue;
    const sum = sums.get(layer) ?? [0, 0, 0];
    sums.set(layer, sum);
    for (let i = 0; i < 3; i++) sum[i] += weights[2 * slot] * values[start + i];
  }
  return sums;
}
