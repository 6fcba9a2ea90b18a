import assert from "node:assert/strict";
import { test } from "node:test";
import { displace, pack, slotsOf, weigh } from "../../core/entries.ts";

const component = (coordinate, bits, step) => ({ kind: "component", coordinate, scale: 2, bits, step, normalStep: 1 });

/** Targets that each move the second of three vertices. */
function packed(count, bits, step) {
  const targets = Array.from({ length: count }, (_, k) => component(k, bits, step));
  const data = targets.map((_, k) => ({
    vertices: Uint32Array.of(1),
    points: Float32Array.of(2 * k * step, 2 * step, 0),
    normals: null,
  }));
  return { targets, data, slots: slotsOf(targets) };
}

for (const [bits, step] of [
  [32, 1],
  [16, 0.5],
  [8, 0.25],
]) {
  test(`displacements of ${bits} bits are the sum of targets times coordinates`, () => {
    const { targets, data, slots } = packed(5, bits, step);
    const entries = pack(targets, slots, data, 3);
    const weights = new Float32Array(2 * slots.count);
    weigh(slots, (target) => target + 1, weights);
    const offset = new Float64Array(3);
    displace(entries, 1, weights, offset);
    assert.deepEqual([...offset], [40 * step, 15 * step, 0]);
    displace(entries, 0, weights, offset.fill(0));
    assert.deepEqual([...offset], [0, 0, 0]);
  });
}

test("more components than a byte counts lie between two entries of a vertex", () => {
  const { targets, data, slots } = packed(300, 8, 1);
  for (const [k, target] of data.entries()) target.vertices = Uint32Array.of(k === 0 || k === 299 ? 1 : 0);
  const points = Float32Array.of(6, 0, 0);
  for (const target of data) target.points = points;
  const entries = pack(targets, slots, data, 3);
  const weights = new Float32Array(2 * slots.count);
  weigh(slots, (target) => (target === 299 ? 5 : 0), weights);
  const offset = new Float64Array(3);
  displace(entries, 1, weights, offset);
  assert.deepEqual([...offset], [15, 0, 0]);
});
