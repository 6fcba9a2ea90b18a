import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestRotation, writeMatrix } from "../../core/bones/nearest_rotation.ts";
import { RigidMotion } from "../../core/bones/rigid.ts";

function close(found, wanted, tolerance = 1e-12) {
  for (const [k, value] of found.entries()) assert.ok(Math.abs(value - wanted[k]) < tolerance);
}

function matrixOf(quaternion) {
  const matrix = new Float64Array(9);
  writeMatrix(quaternion, 0, matrix, 0);
  return matrix;
}

test("a stretched rotation is found again, and a reflection gives a proper one", () => {
  // Its squares sum to one.
  const rotation = matrixOf(Float64Array.of(0.1, -0.5, 0.7, 0.5));
  const found = new Float64Array(4);
  nearestRotation(
    rotation.map((value, k) => value * [3, 2, 0.1][k % 3]),
    found,
    0,
  );
  close(matrixOf(found), rotation);
  nearestRotation(Float64Array.of(3, 0, 0, 0, 2, 0, 0, 0, -1), found, 0);
  close(matrixOf(found), [1, 0, 0, 0, 1, 0, 0, 0, 1]);
});

test("a rigid motion is found and removed", () => {
  const rest = Float64Array.from({ length: 15 }, (_, k) => Math.sin(3 * k));
  const rotation = matrixOf(Float64Array.of(0.5, 0.5, -0.5, 0.5));
  const moved = rest.map((_, k) => {
    const [row, point] = [k % 3, 3 * Math.floor(k / 3)];
    return [0, 1, 2].reduce((sum, i) => sum + rotation[3 * row + i] * rest[point + i], k % 3);
  });
  const motion = new RigidMotion();
  motion.find(rest, moved, Float64Array.of(0.1, 0.2, 0.3, 0.15, 0.25));
  close(motion.rotation, rotation);
  close(motion.translation, [0, 1, 2]);
  const aligned = new Float64Array(15);
  motion.remove(moved, aligned);
  close(aligned, rest);
});
