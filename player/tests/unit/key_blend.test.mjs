import assert from "node:assert/strict";
import { test } from "node:test";
import { Object3D } from "three";
import { Posing } from "../../page/posing.ts";

/** A bone at rest, and key poses that move it along x by these lengths. */
function posing(...lengths) {
  const [top, bone] = [new Object3D(), new Object3D()];
  top.add(bone);
  const posed = new Posing(top, [], [{ bones: [bone], controls: {} }], () => {});
  for (const length of lengths) {
    posed.keys.poses.push({ name: `${length}`, joints: [0, 0, 0, 1, length, 0, 0], controls: {} });
  }
  return { posed, bone };
}

/** Move a bone by hand. */
function move(posed, bone, length) {
  posed.begin();
  posed.hold();
  bone.position.x = length;
  posed.end();
}

for (const rate of [24, 30, 60, 144, 240]) {
  test(`key poses take their time at ${rate} frames per second`, () => {
    const { posed, bone } = posing(0, 1, 2);
    posed.togglePlay();
    for (let frame = 0; frame < 1.5 * rate; frame++) posed.advance(1 / rate);
    assert.ok(Math.abs(bone.position.x - 1.5) < 1e-9);
    // Ten rounds of two seconds, and half a second more.
    for (let frame = 0; frame < 19 * rate; frame++) posed.advance(1 / rate);
    assert.ok(Math.abs(posed.cursor - 0.5) < 1e-6);
  });
}

test("a pose by hand comes back after rest, another pose or a blend was put in its place", () => {
  const { posed, bone } = posing(0, 1, 2);
  const changes = [
    () => posed.rest(),
    () => posed.take(posed.keys.poses[1], { kind: "hand" }),
    () => posed.togglePlay(),
    () => posed.seek(1.5),
    () => posed.play(-1),
  ];
  for (const change of changes) {
    move(posed, bone, 7);
    change();
    posed.advance(0.1);
    assert.notEqual(bone.position.x, 7);
    posed.undo();
    assert.equal(bone.position.x, 7);
    assert.ok(!posed.moving);
  }
  posed.redo();
  assert.equal(bone.position.x, 0);
});

test("going along the timeline is no step of undo", () => {
  const { posed, bone } = posing(0, 1, 2);
  move(posed, bone, 7);
  for (const seconds of [0.2, 0.4, 0.6]) posed.seek(seconds);
  posed.togglePlay();
  posed.advance(0.1);
  posed.togglePlay();
  posed.undo();
  assert.equal(bone.position.x, 7);
});

test("where key poses are deleted the timeline ends with the last one, or goes", () => {
  const { posed, bone } = posing(0, 1, 2);
  posed.seek(2);
  posed.keys.poses.pop();
  posed.followKeys();
  assert.equal(posed.cursor, 1);
  assert.equal(bone.position.x, 1);
  posed.togglePlay();
  posed.keys.poses.pop();
  posed.followKeys();
  assert.equal(posed.cursor, 0);
  assert.ok(!posed.moving);
  assert.equal(posed.source.kind, "hand");
});
