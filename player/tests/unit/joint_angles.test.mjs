import assert from "node:assert/strict";
import { test } from "node:test";
import { Quaternion, Vector3 } from "three";
import { JointAngles } from "../../page/joint_angles.ts";

const AXES = Float64Array.of(-1, 0, 0, 0, 0, 1, 0, 0, 0);
const LIMITS = Float64Array.of(-0.5, 2.4, -0.3, 0.3, 0, 0);
const REST = new Quaternion().setFromAxisAngle(new Vector3(1, 2, 3).normalize(), 0.7);

function close(a, b, within = 1e-12) {
  assert.ok(
    a.every((value, k) => Math.abs(value - b[k]) < within),
    `${a} is not ${b}`,
  );
}

test("angles are those that made a rotation", () => {
  const angles = new JointAngles({ axes: AXES, limits: LIMITS }, REST);
  for (const wanted of [
    [0, 0, 0],
    [1.2, -0.2, 0],
    [-2.9, 0.4, 0],
    [1e-9, 0, 0],
  ]) {
    close(angles.of(angles.rotation(wanted)), wanted);
    const { x, y, z, w } = angles.rotation(wanted);
    close(angles.of(new Quaternion(-x, -y, -z, -w)), wanted);
  }
});

test("angles are brought within the limits, and an axis that is none has no angle", () => {
  const angles = new JointAngles({ axes: AXES, limits: LIMITS }, REST);
  assert.deepEqual(angles.clamped([3, -1, 0.5]), [2.4, -0.3, 0]);
  assert.deepEqual(
    [0, 1, 2].map((axis) => angles.rotates(axis)),
    [true, true, false],
  );
  close(angles.middle, [0.95, 0, 0]);
  const free = new JointAngles({ axes: AXES, limits: null }, REST);
  assert.deepEqual(free.clamped([9, -9, 9]), [9, -9, 0]);
  assert.equal(free.middle, null);
  assert.ok(!new JointAngles({ axes: AXES, limits: new Float64Array(6) }, REST).free);
});

test("a joint that is rotated on beyond half a turn does not jump to its other limit", () => {
  const angles = new JointAngles({ axes: AXES, limits: LIMITS }, REST);
  let last = [0, 0, 0];
  for (let degrees = 0; degrees <= 330; degrees += 10) {
    const turned = new Quaternion().setFromAxisAngle(new Vector3(-1, 0, 0), (degrees * Math.PI) / 180);
    last = angles.of(REST.clone().multiply(turned), last);
    assert.ok(Math.abs(last[0] - (degrees * Math.PI) / 180) < 1e-9);
  }
  assert.equal(angles.clamped(last)[0], 2.4);
});
