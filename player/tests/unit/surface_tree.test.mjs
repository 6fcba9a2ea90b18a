import assert from "node:assert/strict";
import { test } from "node:test";
import { Ray, Vector3 } from "three";
import { GRAB } from "../../studio/brushes/brushes.ts";
import { SurfaceTree } from "../../studio/surface_tree.ts";
import { dabAt, distance, row, sphere, surfaceOf } from "./shapes.mjs";

function nearest(surface, centre, radius) {
  return [...surface.topology.firsts.filter((k) => distance(row(surface.points, k), centre) <= radius)];
}

test("a ray meets the surface, and the radius gives what a search through all vertices gives", () => {
  const surface = surfaceOf(sphere(32, 48));
  const tree = new SurfaceTree(surface);
  const hit = tree.meet(new Ray(new Vector3(3, 0.1, 0.2), new Vector3(-1, 0, 0)));
  assert.ok(Math.abs(hit.position.length() - 1) < 0.01);
  assert.equal(tree.meet(new Ray(new Vector3(3, 2, 0), new Vector3(-1, 0, 0))), null);
  for (const radius of [0.1, 0.5, 3]) {
    const near = [...tree.within(hit.position, radius)];
    const byNumber = (a, b) => a - b;
    assert.deepEqual(near.sort(byNumber), nearest(surface, hit.position.toArray(), radius).sort(byNumber));
  }
});

test("after vertices moved far, a tree that is refitted there answers like a new one", () => {
  const surface = surfaceOf(sphere(32, 48));
  const tree = new SurfaceTree(surface);
  for (const [centre, motion] of [
    [
      [1, 0, 0],
      [1.5, 0.4, 0],
    ],
    [
      [0, 1, 0],
      [0, 0.8, 0.6],
    ],
    [
      [-1, 0, 0],
      [0.9, 0, 0],
    ],
  ]) {
    const dab = dabAt(surface, centre, 0.6, { motion });
    surface.move(dab.vertices, GRAB.apply(surface, dab));
    tree.refit(surface.settle());
  }
  const anew = new SurfaceTree(surface);
  let met = 0;
  for (let k = 0; k < 400; k++) {
    const ray = new Ray(new Vector3(3 * Math.sin(k), 3 * Math.cos(k), 3 * Math.sin(7 * k)), new Vector3());
    ray.lookAt(new Vector3(Math.sin(3 * k), Math.cos(5 * k), 0.5 * Math.sin(11 * k)));
    const [here, there] = [tree.meet(ray), anew.meet(ray)];
    assert.equal(!here, !there);
    if (!here) continue;
    met++;
    assert.ok(here.position.distanceTo(there.position) < 1e-9);
    assert.deepEqual([...tree.within(here.position, 0.4)].sort(), [...anew.within(here.position, 0.4)].sort());
  }
  assert.ok(met > 100);
});
