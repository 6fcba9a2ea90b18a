import assert from "node:assert/strict";
import { test } from "node:test";
import { Group, Object3D, Quaternion, Ray, Vector3 } from "three";
import { JointEditing } from "../../page/joint_editing.ts";
import { Posing } from "../../page/posing.ts";
import { Pull } from "../../page/pull.ts";

const AXES = Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1);
/** Hinges about x. */
const HINGE = Float64Array.of(-0.2, 1.6, 0, 0, 0, 0);
const FORWARD = new Vector3(0, 0, -1);

/** A finger of three joints along y, below a palm that does not rotate: a chain of bones, or flat bones linked to a chain. */
function finger(limits, flat = false) {
  const top = new Group();
  const bones = [0, 1, 2, 3].map((k) => {
    const bone = new Object3D();
    bone.name = `bone${k}`;
    bone.position.y = flat ? k : Math.min(1, k);
    return bone;
  });
  bones.forEach((bone, k) => {
    (flat || k === 0 ? top : bones[k - 1]).add(bone);
  });
  top.rotation.x = 0.1;
  top.updateMatrixWorld(true);
  const joints = bones.map((_, k) => ({
    link: k - 1,
    linkIsParent: !flat,
    axes: AXES,
    limits: k === 0 ? new Float64Array(6) : limits,
  }));
  const skin = { bones, controls: {}, description: { joints } };
  const posing = new Posing(top, [], [skin], () => {});
  const editing = new JointEditing(skin, new Set([0, 1, 2, 3]), posing, () => {});
  const tip = bones[3].localToWorld(new Vector3(0, 1, 0));
  return { top, bones, posing, editing, tip, place: () => bones[3].localToWorld(new Vector3(0, 1, 0)) };
}

function rayTo(top, position) {
  const target = top.localToWorld(new Vector3(...position));
  return new Ray(target.clone().add(new Vector3(0, 0, 10)), FORWARD);
}

for (const flat of [false, true]) {
  test(`a tip comes to below the pointer, and its bones keep their lengths${flat ? ", though the file is flat" : ""}`, () => {
    const { top, bones, editing, tip, place } = finger(null, flat);
    const pull = new Pull(editing, 3, tip, 0);
    assert.deepEqual(pull.joints, [3, 2, 1]);
    const ray = rayTo(top, [1.5, 2.5, 0]);
    for (let k = 0; k < 5; k++) pull.to(ray, FORWARD);
    pull.dispose();
    assert.ok(ray.distanceToPoint(place()) < 0.01);
    const positions = bones.map((bone) => bone.getWorldPosition(new Vector3()));
    for (const k of [1, 2, 3]) assert.ok(Math.abs(positions[k].distanceTo(positions[k - 1]) - 1) < 1e-9);
    assert.ok(bones.every((bone) => bone.children.every((child) => bones.includes(child))));
  });
}

test("limits are kept wherever it is pulled, and a straight finger folds to its knuckle", () => {
  const { top, editing, tip, place } = finger(HINGE);
  const pull = new Pull(editing, 3, tip, 0);
  for (const position of [
    [0, 3.4, 0],
    [0, 2.6, 0],
    [0, 9, 0],
    [3, 0, 0],
    [0, 1.8, 0],
  ]) {
    const ray = rayTo(top, position);
    for (let k = 0; k < 5; k++) pull.to(ray, FORWARD);
    for (const joint of [1, 2, 3]) {
      editing.measure(joint).forEach((angle, axis) => {
        assert.ok(angle >= HINGE[2 * axis] - 1e-9 && angle <= HINGE[2 * axis + 1] + 1e-9);
      });
    }
    if (position[0] === 0 && position[1] < 4) assert.ok(ray.distanceToPoint(place()) < 0.2, `${position}`);
  }
  pull.dispose();
});

test("joints that cannot rotate do not follow", () => {
  const { editing, tip } = finger(new Float64Array(6));
  assert.deepEqual(new Pull(editing, 3, tip, 0).joints, []);
  assert.deepEqual(new Pull(finger(HINGE).editing, 3, tip, 9).joints, [3, 2, 1]);
});

test("a rotation and its reset are steps of undo, and what is linked goes along", () => {
  const { bones, posing, editing } = finger(HINGE, true);
  const before = bones[3].getWorldPosition(new Vector3());
  posing.edit(() => {
    editing.begin();
    editing.rotate(1, [9, 9, 0]);
  });
  assert.ok(Math.abs(editing.measure(1)[0] - 1.6) < 1e-9);
  assert.ok(bones[3].getWorldPosition(new Vector3()).distanceTo(before) > 1);
  const rotated = bones[1].quaternion.clone();
  editing.reset(1);
  assert.ok(bones[1].quaternion.angleTo(new Quaternion()) < 1e-6);
  assert.ok(bones[3].getWorldPosition(new Vector3()).distanceTo(before) < 1e-9);
  posing.undo();
  assert.ok(bones[1].quaternion.angleTo(rotated) < 1e-6);
  posing.undo();
  assert.equal(posing.source.kind, "rest");
  posing.redo();
  assert.ok(bones[1].quaternion.angleTo(rotated) < 1e-6);
});
