import assert from "node:assert/strict";
import { test } from "node:test";
import { readPoses, writePoses } from "../../page/pose_file.ts";

const SKELETON = { names: ["root", "point1", "__proto__"], rests: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], unit: 0.001 };

function pose(name, shift) {
  const joints = [0.6, 0, 0, 0.8, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, shift, -shift / 3, 0, 0, 0, shift];
  return { name, joints, controls: { smile: 0.25 } };
}

test("what is written is read back, in its order, in the unit of the skin", () => {
  const poses = [pose("fist", 0.02), pose("2", 0.01), pose("1", 1 / 3), pose('a "quoted" </script> name', 0)];
  const text = writePoses(poses, SKELETON, 1);
  const first = JSON.parse(text).poses.fist;
  assert.deepEqual(first.translations.point1, [20, -20 / 3, 0]);
  assert.deepEqual(first.rotations, { root: [0.6, 0, 0, 0.8] });
  assert.equal(JSON.parse(text).poses["1"].time, 2);
  const back = readPoses(text, SKELETON);
  assert.deepEqual(
    back.map(({ name }) => name),
    poses.map(({ name }) => name),
  );
  back.forEach(({ joints, controls }, k) => {
    joints.forEach((value, number) => {
      assert.ok(Math.abs(value - poses[k].joints[number]) < 1e-15);
    });
    assert.deepEqual(controls, poses[k].controls);
  });
});

const own = (entry) => JSON.stringify({ posespace: "poses", version: 1, poses: { fist: entry } });

for (const [why, text, words] of [
  ["no JSON", "{", /expected poses as JSON/],
  ["another file", "{}", /expected "posespace": "poses"/],
  ["a list", "[]", /the file: expected an object/],
  ["no poses", '{"posespace": "poses", "version": 1, "poses": {}}', /expected 1 to 1000 poses, got 0/],
  ["another skeleton", own({ translations: { elbow: [0, 0, 0] } }), /pose "fist": the skin has no joint "elbow"/],
  [
    "a misspelt part",
    own({ translation: { root: [0, 0, 0] } }),
    /unknown key 'translation'; expected rotations, translations, controls, time/,
  ],
  ["two numbers", own({ translations: { root: [0, 0] } }), /"root": expected 3 numbers/],
  ["words", own({ rotations: { root: ["a", 0, 0, 1] } }), /"root": expected 4 numbers/],
  ["no length", own({ rotations: { root: [0, 0, 0, 0] } }), /nonzero length/],
  ["a large number", own({ time: 1e300 }), /expected 1 number of at most/],
]) {
  test(`one line for a file of poses with ${why}`, () => {
    assert.throws(() => readPoses(text, SKELETON), words);
  });
}
