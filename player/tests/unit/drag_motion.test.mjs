import assert from "node:assert/strict";
import { test } from "node:test";
import { PerspectiveCamera, Vector3 } from "three";
import { DragMotion } from "../../page/drag_motion.ts";

const [WIDTH, HEIGHT] = [800, 600];

function picture() {
  const camera = new PerspectiveCamera(35, WIDTH / HEIGHT, 0.01, 100);
  camera.position.set(0.7, 0.4, 2);
  camera.lookAt(0.1, 0, 0);
  camera.updateMatrixWorld();
  return { camera, width: WIDTH, height: HEIGHT };
}

function pixel({ camera }, position) {
  const { x, y } = position.clone().project(camera);
  return [((x + 1) * WIDTH) / 2, ((1 - y) * HEIGHT) / 2];
}

test("in the plane of the view, what is dragged stays below the pointer and at its depth", () => {
  const view = picture();
  const origin = new Vector3(0.2, -0.1, 0.3);
  const [x, y] = pixel(view, origin);
  // Grabbed a little beside its middle.
  const motion = new DragMotion(view, origin, new Vector3(0, 0, 1), x + 3, y - 2);
  const displacement = motion.inView(x + 103, y - 42);
  const [nextX, nextY] = pixel(view, origin.clone().add(displacement));
  assert.ok(Math.hypot(nextX - x - 100, nextY - y + 40) < 1e-6);
  assert.ok(Math.abs(displacement.dot(view.camera.getWorldDirection(new Vector3()))) < 1e-12);
  assert.ok(motion.inView(x + 3, y - 2).length() < 1e-12);
});

test("along a normal that lies in the picture, it follows the pointer", () => {
  const view = picture();
  const origin = new Vector3(0.1, 0, 0);
  const right = new Vector3();
  view.camera.matrixWorld.extractBasis(right, new Vector3(), new Vector3());
  const [x, y] = pixel(view, origin);
  const displacement = new DragMotion(view, origin, right, x, y).alongNormal(x + 50, y + 20);
  const [nextX, nextY] = pixel(view, origin.clone().add(displacement));
  assert.ok(Math.hypot(nextX - x - 50, nextY - y) < 0.1);
});

test("along a normal that points at the viewer, up is out, and nothing runs away", () => {
  const view = picture();
  const origin = new Vector3(0.1, 0, 0);
  const normal = view.camera.getWorldDirection(new Vector3()).negate();
  const motion = new DragMotion(view, origin, normal, 0, 0);
  assert.ok(motion.alongNormal(0, -10).dot(normal) > 0);
  assert.ok(motion.alongNormal(0, 10).dot(normal) < 0);
  assert.ok(motion.alongNormal(300, -300).length() < 2);
});

test("a drag across half of the height rotates by a quarter, about the axis of the picture", () => {
  const view = picture();
  const up = new Vector3();
  view.camera.matrixWorld.extractBasis(new Vector3(), up, new Vector3());
  const rotation = new DragMotion(view, new Vector3(), up, 10, 10).rotation(10 + HEIGHT / 2, 10);
  assert.ok(Math.abs(2 * Math.acos(rotation.w) - Math.PI / 2) < 1e-12);
  assert.ok(new Vector3(rotation.x, rotation.y, rotation.z).normalize().distanceTo(up) < 1e-12);
});
