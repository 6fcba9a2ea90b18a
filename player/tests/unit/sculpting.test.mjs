import assert from "node:assert/strict";
import { test } from "node:test";
import { GRAB, INFLATE, SMOOTH } from "../../studio/brushes/brushes.ts";
import { Drafts } from "../../studio/drafts.ts";
import { Sculpting } from "../../studio/sculpting.ts";
import { dabAt, sphere, weldOf } from "./shapes.mjs";

function sculptingOf(shape = sphere()) {
  return new Sculpting({ ...shape, weld: weldOf(shape.points) }, shape.points);
}

function stroke(sculpting, brush, centre) {
  sculpting.begin();
  for (let k = 0; k < 3; k++) {
    sculpting.touch(brush, dabAt(sculpting.surface, centre, 0.5, { motion: [0.1, 0.05, 0] }));
    sculpting.surface.settle();
  }
  return sculpting.end();
}

test("strokes are undone and redone to the bit", () => {
  const sculpting = sculptingOf();
  const shapes = [sculpting.points()];
  const strokes = [
    [GRAB, [1, 0, 0]],
    [INFLATE, [0, 1, 0]],
    [SMOOTH, [0.8, 0.6, 0]],
  ];
  for (const [brush, centre] of strokes) {
    assert.ok(stroke(sculpting, brush, centre));
    shapes.push(sculpting.points());
  }
  for (const k of [2, 1, 0]) {
    assert.ok(sculpting.undo());
    assert.deepEqual(sculpting.points(), shapes[k]);
  }
  assert.equal(sculpting.undo(), false);
  assert.equal(sculpting.dirty, false);
  for (const k of [1, 2, 3]) {
    assert.ok(sculpting.redo());
    assert.deepEqual(sculpting.points(), shapes[k]);
  }
  assert.equal(sculpting.redo(), false);
  assert.ok(sculpting.dirty);
});

test("a new stroke forgets what was undone", () => {
  const sculpting = sculptingOf();
  stroke(sculpting, GRAB, [1, 0, 0]);
  sculpting.undo();
  stroke(sculpting, INFLATE, [0, 1, 0]);
  assert.equal(sculpting.redo(), false);
});

test("a stroke that is cancelled, or undone while it is made, leaves nothing", () => {
  for (const back of ["cancel", "undo"]) {
    const sculpting = sculptingOf();
    const before = sculpting.points();
    sculpting.begin();
    sculpting.touch(GRAB, dabAt(sculpting.surface, [1, 0, 0], 0.5, { motion: [0.1, 0, 0] }));
    assert.notDeepEqual(sculpting.points(), before);
    sculpting[back]();
    assert.deepEqual(sculpting.points(), before);
    assert.equal(sculpting.dirty, false);
    assert.equal(sculpting.end(), false);
  }
});

test("a stroke that moves nothing is none", () => {
  const sculpting = sculptingOf();
  sculpting.begin();
  sculpting.touch(GRAB, dabAt(sculpting.surface, [1, 0, 0], 0.5));
  assert.equal(sculpting.end(), false);
  assert.equal(sculpting.dirty, false);
});

test("another shape is taken as one stroke; one of another mesh is refused in one line", () => {
  const sculpting = sculptingOf();
  const before = sculpting.points();
  const wanted = before.map((value) => 1.5 * value);
  sculpting.replace(wanted);
  assert.deepEqual(sculpting.points(), wanted);
  assert.ok(sculpting.undo());
  assert.deepEqual(sculpting.points(), before);
  assert.throws(
    () => sculpting.replace(new Float32Array(9)),
    /^Error: the shape has 3 vertices, this skin 425: [^\n]+$/,
  );
});

test("of drafts one is on its way, and of those that wait the latest goes", async () => {
  const sent = [];
  const answers = [];
  const link = {
    editor: true,
    on: () => () => {},
    request: (what, data, arrays) => {
      sent.push([what, data.name, arrays?.points[0] ?? null]);
      return new Promise((done) => answers.push(() => done({ ok: {}, arrays: {} })));
    },
  };
  const drafts = new Drafts(link, (words) => assert.fail(words));
  for (const k of [1, 2, 3, 4]) drafts.keep({}, "bend", Float32Array.of(k));
  assert.deepEqual(sent, [["draft", "bend", 1]]);
  answers.shift()();
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(sent.slice(1), [["draft", "bend", 4]]);
  drafts.keep({}, "bend", Float32Array.of(5));
  drafts.keep({}, "bend", null);
  answers.shift()();
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(sent.slice(2), [["draft", "bend", null]]);
});
