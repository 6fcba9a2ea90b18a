import assert from "node:assert/strict";
import { test } from "node:test";
import { Surface } from "../../core/surface.ts";

/** A strip of triangles over vertices 0, 1, 2, ... at so many places along x. */
function strip(xs) {
  const corners = Array.from({ length: xs.length - 2 }, (_, k) => [k, k + 1, k + 2]).flat();
  return {
    positions: { count: xs.length, getX: (k) => xs[k], getY: (k) => xs[k] % 2, getZ: () => 0 },
    indices: { count: corners.length, getX: (k) => corners[k] },
  };
}

const around = (surface, vertex, count) => {
  const values = Float64Array.from({ length: count }, (_, k) => (k === vertex ? 1 : 0));
  return [...surface.largest(values, Uint32Array.from(values.keys()))];
};

test("a neighbourhood is two rings wide", () => {
  assert.deepEqual(around(new Surface([strip([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])]), 0, 10), [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
});

test("vertices of one position are one, over all primitives", () => {
  const surface = new Surface([strip([0, 1, 2]), strip([2, 3, 4])]);
  assert.deepEqual(surface.firsts, [0, 3]);
  assert.deepEqual(around(surface, 2, 6), [1, 1, 1, 1, 1, 1]);
  assert.deepEqual(around(surface, 0, 6), [1, 1, 1, 1, 1, 1]);
});

test("a corner that is no vertex does no harm", () => {
  const damaged = strip([0, 1, 2]);
  damaged.indices.getX = () => 1000;
  assert.deepEqual(around(new Surface([damaged]), 0, 3), [1, 0, 0]);
});
