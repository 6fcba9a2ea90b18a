import assert from "node:assert/strict";
import { test } from "node:test";
import { AnimationClip, NumberKeyframeTrack, Object3D, QuaternionKeyframeTrack } from "three";
import { Posing } from "../../page/posing.ts";
import { frameAt, frameRate, lastFrame, timeOf } from "../../page/timeline.ts";

function clip(times) {
  const values = times.flatMap((time) => [Math.sin(time / 2), 0, 0, Math.cos(time / 2)]);
  return new AnimationClip("clip", -1, [
    new NumberKeyframeTrack("bone.scale", [0, 1], [1, 1, 1, 1, 1, 1]),
    new QuaternionKeyframeTrack("bone.quaternion", times, values),
  ]);
}

const TIMES = Array.from({ length: 25 }, (_, k) => k / 24);

test("the frames of a clip are those of its densest track", () => {
  assert.equal(frameRate(clip(TIMES)), 24);
  assert.equal(frameRate(new AnimationClip("still", -1, [])), 30);
  assert.equal(frameRate(clip(Array.from({ length: 5000 }, (_, k) => k / 4999))), 240);
});

test("times and frames are within the clip", () => {
  const line = { duration: 1, rate: 24, marks: [] };
  assert.equal(lastFrame(line), 24);
  assert.equal(frameAt(line, 0.51), 12);
  assert.equal(frameAt(line, 7), 24);
  assert.equal(timeOf(line, 12), 0.5);
  assert.equal(timeOf(line, -1), 0);
  assert.equal(timeOf(line, 30), 1);
});

function posing() {
  const [top, bone] = [new Object3D(), new Object3D()];
  bone.name = "bone";
  top.add(bone);
  return { posing: new Posing(top, [clip(TIMES)], [{ bones: [bone], controls: {} }], () => {}), bone };
}

test("a clip plays on from where it was paused, and after the user has moved a bone", () => {
  const { posing: posed, bone } = posing();
  posed.play(0);
  posed.advance(0.25);
  assert.ok(Math.abs(posed.cursor - 0.25) < 1e-9);
  posed.togglePlay();
  assert.ok(!posed.moving);
  posed.begin();
  posed.hold();
  bone.quaternion.set(0, 1, 0, 0);
  posed.end();
  posed.advance(0.25);
  assert.deepEqual(bone.quaternion.toArray(), [0, 1, 0, 0]);
  posed.togglePlay();
  assert.equal(posed.source.kind, "clip");
  posed.advance(0.25);
  assert.ok(Math.abs(bone.quaternion.x - Math.sin(0.25)) < 1e-3);
  posed.undo();
  assert.equal(posed.source.kind, "hand");
});

test("key poses are on the timeline: after one another, or where they were stored from a clip", () => {
  const { posing: posed, bone } = posing();
  assert.equal(posed.line, null);
  posed.keys.poses.push({ ...posed.pose("a"), from: { clip: 0, seconds: 0.5 } });
  bone.quaternion.set(1, 0, 0, 0);
  posed.keys.poses.push(posed.pose("b"));
  assert.deepEqual(
    posed.line?.marks.map(({ seconds }) => seconds),
    [0, 1],
  );
  posed.seek(0.5);
  assert.equal(posed.source.kind, "keys");
  assert.ok(Math.abs(bone.quaternion.x - Math.SQRT1_2) < 1e-9);
  posed.play(0);
  assert.deepEqual(posed.line?.marks, [{ name: "a", seconds: 0.5 }]);
});
