import assert from "node:assert/strict";
import { test } from "node:test";
import { BRUSHES, GRAB } from "../../studio/brushes/brushes.ts";
import { Mirror } from "../../studio/brushes/mirror.ts";
import { Sculpting } from "../../studio/sculpting.ts";
import { dabAt, distance, row, sphere, surfaceOf, weldOf } from "./shapes.mjs";

function sculptingOf(shape, posed = shape.points) {
  const sculpting = new Sculpting(
    { points: posed, triangles: shape.triangles, weld: weldOf(shape.points) },
    shape.points,
  );
  sculpting.mirrored = true;
  return sculpting;
}

function stroke(sculpting, brush, dab) {
  sculpting.begin();
  sculpting.touch(brush, dab);
  sculpting.end();
  sculpting.surface.settle();
}

/** A stretched sphere whose left half is bent about z: points (N, 3). */
function bent(points) {
  const posed = points.slice();
  for (let k = 0; k < points.length; k += 3) {
    const angle = Math.min(0, points[k]) * 1.2;
    const [x, y] = [points[k], points[k + 1]];
    posed[k] = Math.cos(angle) * x - Math.sin(angle) * y;
    posed[k + 1] = Math.sin(angle) * x + Math.cos(angle) * y;
  }
  return posed;
}

test("every vertex of a symmetric shape has a partner, and those on the plane themselves", () => {
  const surface = surfaceOf(sphere());
  const { partner, matched } = new Mirror(sphere().points, surface);
  assert.equal(matched, 1);
  for (const vertex of surface.topology.firsts) {
    const [x, y, z] = row(surface.points, vertex);
    assert.ok(distance(row(surface.points, partner[vertex]), [-x, y, z]) < 1e-6);
    assert.equal(partner[partner[vertex]], vertex);
  }
});

test("where the shape is not symmetric, vertices have no partner and only one side moves", () => {
  const shape = sphere();
  for (let k = 0; k < shape.points.length; k += 3) if (shape.points[k] < -0.01) shape.points[k] *= 1.3;
  const sculpting = sculptingOf(shape);
  assert.ok(sculpting.mirror.matched > 0 && sculpting.mirror.matched < 0.3);
  stroke(sculpting, GRAB, dabAt(sculpting.surface, [1, 0, 0], 0.5, { motion: [0.2, 0, 0] }));
  const moved = sculpting.points().map((value, k) => value - shape.points[k]);
  for (let k = 0; k < moved.length; k += 3) if (shape.points[k] < 0) assert.equal(moved[k], 0);
});

test("a mirrored stroke gives a mirrored shape, across the plane too", () => {
  for (const brush of BRUSHES) {
    for (const centre of [
      [0.9, 0.4, 0],
      [0.2, 0.97, 0.1],
      [0, 0, 1],
    ]) {
      const sculpting = sculptingOf(sphere());
      const { surface, mirror } = sculpting;
      stroke(sculpting, brush, dabAt(surface, centre, 0.6, { strength: 0.7, motion: [0.2, 0.1, -0.1] }));
      for (const vertex of surface.topology.firsts) {
        const [x, y, z] = row(surface.points, vertex);
        assert.ok(distance(row(surface.points, mirror.partner[vertex]), [-x, y, z]) < 1e-5, brush.name);
      }
    }
  }
});

test("far from the plane, a mirrored stroke moves its own side as an unmirrored one does", () => {
  const [plain, mirrored] = [sculptingOf(sphere()), sculptingOf(sphere())];
  plain.mirrored = false;
  for (const sculpting of [plain, mirrored]) {
    stroke(sculpting, GRAB, dabAt(sculpting.surface, [1, 0, 0], 0.6, { motion: [0.1, 0.1, 0] }));
  }
  const [one, both] = [plain.points(), mirrored.points()];
  for (let k = 0; k < one.length; k += 3) {
    if (sphere().points[k] > 0) assert.deepEqual([...one.subarray(k, k + 3)], [...both.subarray(k, k + 3)]);
  }
});

test("in a pose that is not symmetric, the other side gets the mirror image seen from its own surface", () => {
  const shape = sphere(48, 64);
  const posed = bent(shape.points);
  const sculpting = sculptingOf(shape, posed);
  const { surface, mirror } = sculpting;
  const start = surfaceOf(shape, posed);
  const dab = dabAt(surface, [1, 0, 0], 0.4, { strength: 1 });
  // Straight out of the right side.
  stroke(sculpting, GRAB, { ...dab, motion: [0.2, 0, 0] });
  const centre = dab.vertices[dab.falloff.indexOf(Math.max(...dab.falloff))];
  const other = mirror.partner[centre];
  const moved = row(surface.points, other).map((value, axis) => value - row(posed, other)[axis]);
  assert.ok(Math.abs(Math.hypot(...moved) - 0.2) < 1e-5);
  // And out of the left one, which the pose has turned by some seventy degrees.
  const normal = row(start.normals, other);
  assert.ok(normal[1] > 0.8);
  assert.ok(moved.reduce((sum, value, axis) => sum + value * normal[axis], 0) > 0.198);
});
