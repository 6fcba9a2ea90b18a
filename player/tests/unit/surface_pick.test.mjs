import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Bone,
  BufferGeometry,
  Float32BufferAttribute,
  Ray,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
  Vector3,
} from "three";
import { SurfacePick } from "../../page/surface_pick.ts";

/** A square of two triangles in the plane of x and y, from 0 to 1; its left side is on one bone, its right on another. */
function square() {
  const geometry = new BufferGeometry()
    .setAttribute("position", new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0], 3))
    .setAttribute("skinIndex", new Uint16BufferAttribute([0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0], 4))
    .setAttribute("skinWeight", new Float32BufferAttribute(new Array(4).fill([1, 0, 0, 0]).flat(), 4));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  const mesh = new SkinnedMesh(geometry);
  const bones = [new Bone(), new Bone(), new Bone()];
  mesh.add(...bones);
  mesh.bind(new Skeleton(bones.slice(0, 2)));
  mesh.updateMatrixWorld(true);
  const skin = { bones: [bones[2], bones[0], bones[1]], controls: {}, enabled: true, detail: true, components: 1 };
  return { pick: new SurfacePick(skin, [mesh]), mesh, bones };
}

function down(x, y) {
  return new Ray(new Vector3(x, y, 5), new Vector3(0, 0, -1));
}

test("a place is found with its triangle, and the joint that moves it most", () => {
  const { pick } = square();
  const left = pick.at(down(0.1, 0.4));
  assert.ok(left.position.distanceTo(new Vector3(0.1, 0.4, 0)) < 1e-9);
  assert.deepEqual(left.vertices, [0, 2, 3]);
  assert.ok(Math.abs(left.shares[0] + left.shares[1] + left.shares[2] - 1) < 1e-9);
  assert.equal(pick.jointAt(left), 1);
  assert.equal(pick.jointAt(pick.at(down(0.9, 0.4))), 2);
  assert.equal(pick.at(down(1.1, 0.4)), null);
  assert.deepEqual([...pick.joints], [1, 2]);
});

test("it follows the pose", () => {
  const { pick, mesh, bones } = square();
  assert.equal(pick.at(down(2.5, 0.4)), null);
  bones[0].position.x = 2;
  bones[1].position.x = 2;
  mesh.updateMatrixWorld(true);
  assert.equal(pick.jointAt(pick.at(down(2.1, 0.4))), 1);
});
