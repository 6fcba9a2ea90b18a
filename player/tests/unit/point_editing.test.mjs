import assert from "node:assert/strict";
import { test } from "node:test";
import { Group, Object3D, PerspectiveCamera, Quaternion, Vector3 } from "three";
import { DragMotion } from "../../page/drag_motion.ts";
import { PointEditing } from "../../page/point_editing.ts";
import { Posing } from "../../page/posing.ts";

/** A skin whose surface is at its points: a root that is rotated by its file, and three points below it. */
function editing() {
  const [top, root] = [new Group(), new Object3D()];
  top.quaternion.setFromAxisAngle(new Vector3(1, 0, 0), -Math.PI / 2);
  top.add(root);
  const points = [
    [0, 0, 0],
    [0.1, 0, 0],
    [0, 0, 0.1],
  ].map((position) => {
    const node = new Object3D();
    node.position.set(...position);
    root.add(node);
    return { node, vertex: 0 };
  });
  const skin = {
    bones: [root, ...points.map(({ node }) => node)],
    points,
    controls: {},
    pointPosition: (k, target) => points[k].node.getWorldPosition(target),
    pointNormal: (_, target) => target.set(0, 0, 1),
  };
  top.updateMatrixWorld(true);
  const posing = new Posing(top, [], [skin], () => {});
  return { points: new PointEditing(skin, posing, () => {}), posing, top };
}

function motion(points, point) {
  const camera = new PerspectiveCamera(35, 1, 0.01, 100);
  camera.position.set(0, 0, 1);
  camera.updateMatrixWorld();
  points.project(camera, 500, 500);
  const { x, y } = points.handles[point];
  return {
    drag: new DragMotion({ camera, width: 500, height: 500 }, points.position(point), points.normal(point), x, y),
    x,
    y,
  };
}

test("a point goes where it is dragged, whatever is above it; the others stay", () => {
  const { points, posing } = editing();
  const before = [0, 1, 2].map((k) => points.position(k));
  const { drag, x, y } = motion(points, 1);
  points.begin();
  points.move("point", 1, drag, x + 40, y - 10);
  posing.end();
  const moved = points.position(1).sub(before[1]);
  assert.ok(moved.distanceTo(drag.inView(x + 40, y - 10)) < 1e-12);
  for (const k of [0, 2]) assert.ok(points.position(k).distanceTo(before[k]) < 1e-15);
  assert.ok(Math.abs(points.distance(1) - moved.length()) < 1e-12);
  assert.equal(posing.source.kind, "hand");
  posing.undo();
  assert.ok(points.position(1).distanceTo(before[1]) < 1e-15);
});

test("the whole is moved and rotated rigidly, about the middle of its points", () => {
  for (const kind of ["whole", "rotate"]) {
    const { points, posing, top } = editing();
    const before = [0, 1, 2].map((k) => points.position(k));
    const { drag, x, y } = motion(points, 0);
    points.begin();
    points.move(kind, 0, drag, x + 60, y + 30);
    top.updateMatrixWorld(true);
    const after = [0, 1, 2].map((k) => points.position(k));
    const middle = (list) => list.reduce((sum, p) => sum.addScaledVector(p, 1 / 3), new Vector3());
    const shift = kind === "whole" ? drag.inView(x + 60, y + 30) : new Vector3();
    const turn = kind === "whole" ? new Quaternion() : drag.rotation(x + 60, y + 30);
    after.forEach((position, k) => {
      const expected = before[k].clone().sub(middle(before)).applyQuaternion(turn).add(middle(before)).add(shift);
      assert.ok(position.distanceTo(expected) < 1e-9);
      assert.ok(points.distance(k) < 1e-12);
    });
    posing.cancel();
    top.updateMatrixWorld(true);
    assert.ok(points.position(2).distanceTo(before[2]) < 1e-12);
  }
});

test("one point is reset, then all, and both are undone", () => {
  const { points, posing } = editing();
  for (const point of [0, 1]) {
    const { drag, x, y } = motion(points, point);
    points.begin();
    points.move("normal", point, drag, x, y - 50);
    posing.end();
  }
  const far = points.distance(0);
  points.reset([1]);
  assert.ok(points.distance(1) === 0 && points.distance(0) === far);
  points.resetAll();
  assert.ok(points.distance(0) === 0 && posing.source.kind === "rest");
  posing.undo();
  assert.ok(points.distance(0) === far && points.distance(1) === 0);
  posing.undo();
  assert.ok(points.distance(1) > 0);
});

test("the nearest handle is found, those at the front first", () => {
  const { points } = editing();
  points.handles[0] = { x: 100, y: 100, front: false, visible: true };
  points.handles[1] = { x: 106, y: 100, front: true, visible: true };
  points.handles[2] = { x: 101, y: 100, front: true, visible: false };
  assert.equal(points.nearest(100, 100, 12), 1);
  assert.equal(points.nearest(92, 100, 12), 0);
  assert.equal(points.nearest(50, 100, 12), -1);
});
