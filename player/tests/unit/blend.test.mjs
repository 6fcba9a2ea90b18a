import assert from "node:assert/strict";
import { test } from "node:test";
import { Quaternion, Vector3 } from "three";
import { blended } from "../../page/blend.ts";

/** A pose of two joints: one rotated about z, one translated along x. */
function pose(angle, x, sign = 1) {
  const rotation = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), angle).toArray();
  const still = [0, 0, 0, 1];
  return {
    name: "",
    joints: [...rotation.map((value) => sign * value), ...still, 0, 0, 0, x, 0, 0],
    controls: { smile: x },
  };
}

const angleOf = ({ joints }) => 2 * Math.atan2(joints[2], joints[3]);

test("key poses are reproduced, and those beyond the ends are the ends", () => {
  const poses = [pose(0, 0), pose(1, 2), pose(-0.5, 1)];
  for (const smooth of [false, true]) {
    for (const [position, index] of [
      [-1, 0],
      [0, 0],
      [1, 1],
      [2, 2],
      [9, 2],
    ]) {
      const { joints, controls } = blended(poses, position, smooth);
      joints.forEach((value, k) => {
        assert.ok(Math.abs(value - poses[index].joints[k]) < 1e-12);
      });
      assert.ok(Math.abs(controls.smile - poses[index].controls.smile) < 1e-12);
    }
  }
});

test("in between, translations and controls are linear, rotations slerp the shorter way", () => {
  const half = blended([pose(0, 0), pose(1.2, 2, -1)], 0.25, false);
  assert.ok(Math.abs(Math.abs(angleOf(half)) - 0.3) < 1e-12);
  assert.ok(Math.abs(half.joints[11] - 0.5) < 1e-12);
  assert.ok(Math.abs(half.controls.smile - 0.5) < 1e-12);
});

test("smooth blends go on through a key pose with the same speed", () => {
  const poses = [pose(0, 0), pose(0.4, 1, -1), pose(0.8, 4), pose(0.8, 5)];
  const step = 1e-5;
  const at = (position) => blended(poses, position, true);
  for (const value of [(p) => p.joints[11], angleOf]) {
    const before = value(at(1)) - value(at(1 - step));
    const after = value(at(1 + step)) - value(at(1));
    assert.ok(Math.abs(before - after) < 1e-3 * step);
  }
  const { joints } = at(1.5);
  assert.ok(Math.abs(Math.hypot(...joints.slice(0, 4)) - 1) < 1e-12);
});

test("one pose is its own blend", () => {
  assert.deepEqual(blended([pose(1, 2)], 0.5, false).joints, pose(1, 2).joints);
});
