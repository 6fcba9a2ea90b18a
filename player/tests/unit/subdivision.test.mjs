import assert from "node:assert/strict";
import { test } from "node:test";
import { Edges } from "../../core/posed/edges.ts";
import { fineSets } from "../../core/posed/fine_set.ts";
import { coarseVertex, fineVertexCount, levelsOf, refined } from "../../core/posed/subdivision.ts";
import { weld } from "../../core/weld.ts";

const SQUARE = Uint32Array.of(0, 1, 2, 2, 1, 3);

test("edges are in the order of their ends, each once", () => {
  const edges = new Edges(SQUARE, 4);
  assert.deepEqual([...edges.lows], [0, 0, 1, 1, 2]);
  assert.deepEqual([...edges.highs], [1, 2, 2, 3, 3]);
  assert.equal(edges.find(3, 1), 3);
});

test("a vertex with many edges is sorted too", () => {
  const fan = Uint32Array.from({ length: 300 }, (_, k) => [0, 101 - Math.floor(k / 3), 102 - Math.floor(k / 3)][k % 3]);
  const edges = new Edges(fan, 103);
  assert.deepEqual(
    [...edges.highs.subarray(0, 101)],
    [...Array(101).keys()].map((k) => k + 2),
  );
});

test("a triangle becomes four, with its edges' midpoints after its corners", () => {
  const [level] = levelsOf(SQUARE, 4, 1);
  assert.deepEqual([...level.triangles.subarray(0, 12)], [0, 4, 5, 4, 1, 6, 5, 6, 2, 4, 6, 5]);
  for (const levels of [0, 1, 2, 3]) {
    const all = levelsOf(SQUARE, 4, levels);
    const last = all[all.length - 1];
    assert.equal(fineVertexCount(SQUARE, 4, levels), last ? last.vertices + last.edges.count : 4);
  }
  assert.deepEqual([...refined([level], Float64Array.of(0, 2, 4, 8), 1)], [0, 2, 4, 8, 1, 2, 3, 5, 6]);
});

test("the vertices of all levels are counted where triangles repeat or have equal corners", () => {
  const faces = [
    [0, 1, 2],
    [2, 0, 1],
    [0, 2, 1],
    [0, 2, 3],
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 0],
    [3, 1, 1],
    [2, 2, 2],
    [4, 4, 4],
  ];
  for (let chosen = 0; chosen < 2 ** faces.length; chosen += 7) {
    const triangles = Uint32Array.from(faces.filter((_, k) => (chosen >> k) & 1).flat());
    let count = 5;
    levelsOf(triangles, 5, 4).forEach((level, k) => {
      assert.equal(fineVertexCount(triangles, 5, k), count);
      count += level.edges.count;
    });
    assert.equal(fineVertexCount(triangles, 5, 4), count);
  }
});

test("split vertices know the skin's, on all levels", () => {
  const levels = levelsOf(SQUARE, 4, 2);
  const vertices = Uint32Array.of(0, 1, 2, 2, 1, 3);
  const triangles = Uint32Array.of(0, 1, 2, 3, 4, 5);
  const primitives = [{ mesh: 0, primitive: 0, first: 0, count: 6 }];
  const [fine] = fineSets([{ count: 6, vertices, firsts: vertices, triangles, primitives }], levels);
  assert.equal(fine.count, 30);
  assert.deepEqual(
    [...fine.triangles].map((corner) => fine.vertices[corner]),
    [...levels[1].triangles],
  );
  assert.equal(fine.primitives[0].count, 96);
});

test("vertices of one position are welded, whatever the sign of their zeros", () => {
  const { of, count } = weld(Float64Array.of(0, 1, 2, 0, 1, 3, -0, 1, 2));
  assert.deepEqual([[...of], count], [[0, 1, 0], 2]);
});

test("each fine vertex has a coarse one beside it", () => {
  const levels = levelsOf(SQUARE, 4, 2);
  const fine = levels[1].vertices + levels[1].edges.count;
  // Corners of the square: from a fine vertex to its coarse one is at most an edge.
  const places = refined(levels, Float64Array.of(0, 0, 1, 0, 0, 1, 1, 1), 2);
  for (let k = 0; k < fine; k++) {
    const coarse = coarseVertex(levels, k);
    assert.ok(coarse < 4);
    if (k < 4) assert.equal(coarse, k);
    const away = Math.hypot(places[2 * k] - places[2 * coarse], places[2 * k + 1] - places[2 * coarse + 1]);
    assert.ok(away <= Math.SQRT2);
  }
  assert.equal(coarseVertex([], 7), 7);
});
