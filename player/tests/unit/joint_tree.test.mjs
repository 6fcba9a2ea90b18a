import assert from "node:assert/strict";
import { test } from "node:test";
import { JointTree } from "../../page/joint_tree.ts";

const NAMES = ["Tip", "hand", "thumb", "finger", "arm", "thumb tip"];
const TREE = new JointTree(NAMES, [3, 4, 1, 1, -1, 2]);

function named(joints) {
  return joints.map((joint) => NAMES[joint]);
}

test("rows are in the order of a tree, whatever the order of the file", () => {
  assert.deepEqual(named(TREE.order), ["arm", "hand", "thumb", "thumb tip", "finger", "Tip"]);
  assert.deepEqual(TREE.depths, [3, 1, 2, 2, 0, 3]);
  assert.deepEqual(named(TREE.above(0)), ["finger", "hand", "arm"]);
  assert.deepEqual(named(TREE.below(1)), ["thumb", "thumb tip", "finger", "Tip"]);
  assert.deepEqual(TREE.below(0), []);
});

test("what is below a folded joint is not seen", () => {
  assert.deepEqual(named(TREE.rows(new Set([2]), "")), ["arm", "hand", "thumb", "finger", "Tip"]);
  assert.deepEqual(named(TREE.rows(new Set([1]), "  ")), ["arm", "hand"]);
});

test("a search finds names in upper and lower case, and shows what is above them, folded or not", () => {
  assert.deepEqual(named(TREE.matches("tip")), ["thumb tip", "Tip"]);
  assert.deepEqual(named(TREE.rows(new Set([1]), "FINGER")), ["arm", "hand", "finger"]);
  assert.deepEqual(TREE.rows(new Set(), "nose"), []);
});

test("a pull is followed up to where the skeleton branches, or by so many joints", () => {
  assert.deepEqual(named(TREE.chain(0, 0)), ["Tip", "finger"]);
  assert.deepEqual(named(TREE.chain(0, 3)), ["Tip", "finger", "hand"]);
  assert.deepEqual(named(TREE.chain(0, 1)), ["Tip"]);
  assert.deepEqual(named(TREE.chain(1, 0)), ["hand", "arm"]);
});

test("joints in a ring become a tree", () => {
  const ring = new JointTree(["a", "b", "c", "d", "e"], [1, 2, 0, 2, 4]);
  assert.equal(ring.order.length, 5);
  assert.equal(new Set(ring.order).size, 5);
});
