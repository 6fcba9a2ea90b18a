import assert from "node:assert/strict";
import { test } from "node:test";
import { placesOf, Skyline } from "../../core/bones/skyline.ts";

/** A random sparse matrix that is positive definite: its lower triangle, and all of it. */
function sparse(count, seed) {
  let state = seed;
  const random = () => (state = (1103515245 * state + 12345) % 2 ** 31) / 2 ** 31;
  const full = Array.from({ length: count }, (_, row) => Array.from({ length: count }, (_, k) => Number(k === row)));
  for (let k = 0; k < 2 * count; k++) {
    const [a, b] = [Math.floor(count * random()), Math.floor(count * random())];
    const value = random() - 0.5;
    // The square of a difference: what an edge adds.
    if (a === b) continue;
    full[a][a] += value * value;
    full[b][b] += 1;
    full[a][b] += value;
    full[b][a] += value;
  }
  const pairs = full.flatMap((row, a) => row.flatMap((value, b) => (b <= a && value ? [[a, b, value]] : [])));
  const entries = {
    rows: Uint32Array.from(pairs, ([row]) => row),
    columns: Uint32Array.from(pairs, ([, column]) => column),
    values: Float64Array.from(pairs, ([, , value]) => value),
  };
  return { full, entries };
}

test("what is solved for gives the right sides again", () => {
  for (const [count, seed] of [
    [1, 1],
    [7, 2],
    [60, 3],
  ]) {
    const { full, entries } = sparse(count, seed);
    const sides = Float64Array.from({ length: 3 * count }, (_, k) => Math.sin(k));
    const solved = sides.slice();
    new Skyline(count, entries).solve(solved);
    full.forEach((row, a) => {
      for (let i = 0; i < 3; i++) {
        const product = row.reduce((sum, value, b) => sum + value * solved[3 * b + i], 0);
        assert.ok(Math.abs(product - sides[3 * a + i]) < 1e-9);
      }
    });
  }
});

test("a matrix that is not positive definite is refused", () => {
  const entries = { rows: Uint32Array.of(0), columns: Uint32Array.of(0), values: Float64Array.of(0) };
  assert.throws(() => new Skyline(1, entries), /undetermined/);
});

test("a shuffled chain is put in order", () => {
  const count = 50;
  const name = (k) => (k * 17) % count;
  const rows = Uint32Array.from({ length: count - 1 }, (_, k) => Math.max(name(k), name(k + 1)));
  const columns = Uint32Array.from({ length: count - 1 }, (_, k) => Math.min(name(k), name(k + 1)));
  const places = placesOf(count, { rows, columns, values: new Float64Array(count - 1) });
  assert.equal(new Set(places).size, count);
  for (let k = 0; k < count - 1; k++) assert.equal(Math.abs(places[name(k)] - places[name(k + 1)]), 1);
});
