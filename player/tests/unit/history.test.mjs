import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../../page/history.ts";

test("what was undone can be had back, until something else is done", () => {
  const history = new History();
  assert.equal(history.undo("c"), undefined);
  history.push("a");
  history.push("b");
  assert.equal(history.undo("c"), "b");
  assert.equal(history.undo("b"), "a");
  assert.equal(history.redo("a"), "b");
  assert.ok(history.canUndo && history.canRedo);
  history.push("b");
  assert.ok(!history.canRedo);
  assert.equal(history.redo("d"), undefined);
});

test("only so many states are kept", () => {
  const history = new History();
  for (let k = 0; k < 80; k++) history.push(k);
  let [count, present] = [0, 80];
  for (let state = history.undo(present); state !== undefined; state = history.undo(present))
    [count, present] = [count + 1, state];
  assert.deepEqual([count, present], [50, 30]);
});
