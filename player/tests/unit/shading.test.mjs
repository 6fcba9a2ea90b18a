import assert from "node:assert/strict";
import { test } from "node:test";
import { SurfaceNormals } from "../../core/posed/normals.ts";
import { shadingOf } from "../../core/posed/shading.ts";

const CORNER = [0, 0, 0, 1, 0, 0, 0, 1, 0];

test("vertices of a seam share a normal", () => {
  const points = Float64Array.of(...CORNER, 0, 0, 0, 0, 1, 0, 0, 0, 1);
  const triangles = Uint32Array.of(0, 1, 2, 3, 4, 5);
  const shading = shadingOf(points, triangles);
  assert.deepEqual([...shading.of], [0, 1, 2, 0, 2, 3]);
  const normals = new Float32Array(18);
  new SurfaceNormals(triangles, shading).write(Float32Array.from(points), normals);
  assert.deepEqual([...normals.subarray(0, 3)], [...normals.subarray(9, 12)]);
  assert.ok(Math.abs(normals[0] - Math.SQRT1_2) < 1e-6 && Math.abs(normals[2] - Math.SQRT1_2) < 1e-6);
});

test("the two sides of a sheet do not", () => {
  const points = Float64Array.of(...CORNER, ...CORNER);
  const shading = shadingOf(points, Uint32Array.of(0, 1, 2, 3, 5, 4));
  assert.equal(shading.count, 6);
});

test("no two vertices at one position: none share", () => {
  assert.equal(shadingOf(Float64Array.of(...CORNER), Uint32Array.of(0, 1, 2)), null);
});

test("a vertex without area points along z", () => {
  const normals = new Float32Array(9);
  new SurfaceNormals(Uint32Array.of(0, 0, 0), null).write(new Float32Array(9), normals);
  assert.deepEqual([...normals], [0, 0, 1, 0, 0, 1, 0, 0, 1]);
});
