import assert from "node:assert/strict";
import { test } from "node:test";
import { FLATTEN, GRAB, INFLATE, SMOOTH, BRUSHES } from "../../studio/brushes/brushes.ts";
import { connected } from "../../studio/brushes/connected.ts";
import { falloff, falloffAt } from "../../studio/brushes/falloff.ts";
import { dabAt, distance, row, sheet, sphere, surfaceOf } from "./shapes.mjs";

function touch(surface, brush, dab) {
  surface.move(dab.vertices, brush.apply(surface, dab));
  surface.settle();
}

test("the falloff is 1 at the centre, a half half way, 0 at the radius and beyond, and flat at both ends", () => {
  assert.equal(falloff(0), 1);
  assert.equal(falloff(0.5), 0.5);
  assert.equal(falloff(1), 0);
  assert.equal(falloff(1.5), 0);
  assert.ok(falloff(0.01) > 0.999 && falloff(0.99) < 0.001);
  const surface = surfaceOf(sheet(20));
  const { vertices, falloff: wanted } = dabAt(surface, [0, 0, 0], 0.5);
  const felt = falloffAt(surface, vertices, [0, 0, 0], 0.5);
  felt.forEach((share, k) => {
    assert.ok(Math.abs(share - wanted[k]) < 1e-6);
  });
});

test("grab moves what is at the centre as far as the pointer, and nothing beyond the radius", () => {
  const shape = sheet(20);
  const surface = surfaceOf(shape);
  touch(surface, GRAB, dabAt(surface, [0, 0, 0], 0.5, { motion: [0.1, 0.2, 0] }));
  const centre = 10 * 21 + 10;
  assert.ok(distance(row(surface.points, centre), [0.1, 0.2, 0]) < 1e-6);
  for (let k = 0; k < shape.points.length / 3; k++) {
    if (Math.hypot(...row(shape.points, k)) >= 0.5) assert.deepEqual(row(surface.points, k), row(shape.points, k));
  }
});

test("inflate moves a sphere's points out along their normals, and in with a negative strength", () => {
  for (const strength of [1, -1]) {
    const shape = sphere();
    const surface = surfaceOf(shape);
    touch(surface, INFLATE, dabAt(surface, [1, 0, 0], 0.6, { strength }));
    let moved = 0;
    for (let k = 0; k < shape.points.length / 3; k++) {
      const [before, after] = [row(shape.points, k), row(surface.points, k)];
      const out = Math.hypot(...after) - 1;
      assert.ok(out * strength > -1e-6);
      // Along the radius, to what the normals of a coarse sphere can say.
      assert.ok(distance(after, before) <= Math.abs(out) * 1.05 + 1e-6);
      moved = Math.max(moved, Math.abs(out));
    }
    assert.ok(Math.abs(moved - 0.06) < 1e-3);
  }
});

test("smooth takes noise out of a sheet, and leaves a flat one with its border as it is", () => {
  const noise = (x, z) => 0.02 * Math.sin(97 * x + 51 * z);
  const rough = surfaceOf(sheet(20, noise));
  const heights = (surface) => Array.from(dabAt(surface, [0, 0, 0], 0.3).vertices, (k) => surface.points[3 * k + 1]);
  const spread = (surface) => Math.hypot(...heights(surface));
  const before = spread(rough);
  touch(rough, SMOOTH, dabAt(rough, [0, 0, 0], 0.8));
  assert.ok(spread(rough) < 0.5 * before);
  const flat = surfaceOf(sheet(20));
  const border = flat.points.slice();
  touch(flat, SMOOTH, dabAt(flat, [-1, 0, 0], 0.5));
  flat.points.forEach((value, k) => {
    // Vertices of the border stay on its line.
    if (Math.abs(border[k]) === 1) assert.ok(Math.abs(value - border[k]) < 1e-6);
  });
});

test("smooth at a higher strength smooths more", () => {
  const left = [0.1, 0.5, 1].map((strength) => {
    const surface = surfaceOf(sheet(20, (x, z) => (x === 0 && z === 0 ? 1 : 0)));
    touch(surface, SMOOTH, dabAt(surface, [0, 0, 0], 1.5, { strength }));
    return Math.max(...surface.points.filter((_, k) => k % 3 === 1));
  });
  assert.ok(left[0] > left[1] && left[1] > left[2]);
});

test("flatten brings a bump towards its plane, and away from it with a negative strength", () => {
  const bump = (x, z) => 0.2 * Math.exp(-8 * (x * x + z * z));
  const height = (surface) => {
    const { vertices } = dabAt(surface, [0, 0.1, 0], 0.5);
    const heights = Array.from(vertices, (vertex) => surface.points[3 * vertex + 1]);
    return Math.max(...heights) - Math.min(...heights);
  };
  const heights = [1, 0, -1].map((strength) => {
    const surface = surfaceOf(sheet(30, bump));
    touch(surface, FLATTEN, dabAt(surface, [0, 0.2, 0], 0.6, { strength }));
    return height(surface);
  });
  assert.ok(heights[0] < heights[1] && heights[1] < heights[2]);
});

test("welded vertices stay together, and so do their normals", () => {
  for (const brush of BRUSHES) {
    const surface = surfaceOf(sphere());
    const { weld } = surface.topology;
    assert.ok(weld.some((first, vertex) => first !== vertex));
    for (const centre of [
      [1, 0, 0],
      [0, 1, 0],
      [0.7, 0.7, 0],
    ]) {
      touch(surface, brush, dabAt(surface, centre, 0.7, { strength: 0.8, motion: [0.1, 0.1, 0.1] }));
    }
    weld.forEach((first, vertex) => {
      assert.deepEqual(row(surface.points, vertex), row(surface.points, first));
      assert.deepEqual(row(surface.normals, vertex), row(surface.normals, first));
    });
  }
});

test("normals are brought up to date where something moved: the same as made anew", () => {
  const shape = sphere();
  const surface = surfaceOf(shape);
  touch(surface, GRAB, dabAt(surface, [1, 0, 0], 0.7, { motion: [0.3, 0.2, 0] }));
  assert.deepEqual(surface.normals, surfaceOf(shape, surface.points).normals);
});

test("both sides of a sheet have normals of their own, and move as one", () => {
  const one = sheet(10);
  const count = one.points.length / 3;
  const back = one.triangles.map((vertex) => vertex + count).reverse();
  const surface = surfaceOf({
    points: Float32Array.from([...one.points, ...one.points]),
    triangles: Int32Array.from([...one.triangles, ...back]),
  });
  const y = surface.normals[1];
  assert.equal(Math.abs(y), 1);
  assert.equal(surface.normals[3 * count + 1], -y);
  touch(surface, INFLATE, dabAt(surface, [0, 0, 0], 0.5));
  const middle = surface.topology.firsts[60];
  assert.ok(Math.abs(row(surface.points, middle)[1]) > 0.04);
  assert.deepEqual(row(surface.points, middle + count), row(surface.points, middle));
});

test("what does not hang together with the pointer's place is left out", () => {
  const [upper, lower] = [sheet(10), sheet(10, () => -0.1)];
  const count = upper.points.length / 3;
  const surface = surfaceOf({
    points: Float32Array.from([...upper.points, ...lower.points]),
    triangles: Int32Array.from([...upper.triangles, ...lower.triangles.map((vertex) => vertex + count)]),
  });
  const { vertices } = dabAt(surface, [0, 0, 0], 0.5);
  const kept = connected(surface.topology, vertices, [60]);
  assert.ok(vertices.some((vertex) => vertex >= count));
  assert.deepEqual([...kept].sort(), [...vertices].filter((vertex) => vertex < count).sort());
});
