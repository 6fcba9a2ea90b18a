import assert from "node:assert/strict";
import { test } from "node:test";
import { ticksUpTo } from "../../page/colour_bar.ts";
import { Comparison } from "../../page/comparison.ts";

const source = (name) => ({ name, label: name, show() {} });

function made() {
  const comparison = new Comparison("plain", "skin", () => comparison.changes++);
  comparison.changes = 0;
  for (const name of ["skin", "plain"]) comparison.add(source(name));
  return comparison;
}

test("a single source fills the picture, two are cut at the divider, an overlay lies on the right one", () => {
  const comparison = made();
  const names = () => [0, 0.4, 0.6].map((share) => comparison.at(share).name);
  assert.deepEqual(names(), ["skin", "skin", "skin"]);
  comparison.showAlone(comparison.left);
  assert.deepEqual(names(), ["plain", "plain", "plain"]);
  comparison.mode = "split";
  assert.deepEqual(names(), ["plain", "plain", "skin"]);
  comparison.divider = 0.2;
  assert.deepEqual(names(), ["plain", "skin", "skin"]);
  comparison.mode = "overlay";
  assert.deepEqual(names(), ["skin", "skin", "skin"]);
});

test("the divider stays within the picture", () => {
  const comparison = made();
  for (const share of [-1, 0]) {
    comparison.divider = share;
    assert.ok(comparison.divider > 0);
  }
  comparison.divider = 2;
  assert.ok(comparison.divider < 1);
});

test("a source that is taken away leaves its place to the usual one", () => {
  const comparison = made();
  const remove = comparison.add(source("truth"));
  comparison.left = comparison.sources[2];
  comparison.showAlone(comparison.sources[2]);
  assert.equal(comparison.left.name, "truth");
  remove();
  assert.deepEqual([comparison.left.name, comparison.alone.name], ["plain", "skin"]);
  assert.ok(comparison.changes >= 5);
});

test("ticks are round numbers from 0, at most six", () => {
  assert.deepEqual(ticksUpTo(8.8), [0, 2, 4, 6, 8]);
  assert.deepEqual(ticksUpTo(1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticksUpTo(0.034), [0, 0.01, 0.02, 0.03]);
  assert.deepEqual(ticksUpTo(100), [0, 20, 40, 60, 80, 100]);
  for (let power = -6; power < 6; power += 0.37) {
    const ticks = ticksUpTo(10 ** power);
    assert.ok(ticks.length >= 3 && ticks.length <= 6 && ticks.at(-1) <= 10 ** power * 1.0001, `${ticks}`);
  }
});
