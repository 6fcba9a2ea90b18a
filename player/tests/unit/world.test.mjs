import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "../../core/world.ts";

function node(parent) {
  const position = { x: 0, y: 0, z: 0 };
  return { position, quaternion: { ...position, w: 1 }, scale: { x: 1, y: 1, z: 1 }, parent, userData: {} };
}

test("nodes that are above one another are refused", () => {
  const first = node(null);
  first.parent = node(first);
  assert.throws(() => new World().add(node(first)), /expected a tree of nodes/);
});
