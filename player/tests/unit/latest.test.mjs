import assert from "node:assert/strict";
import { test } from "node:test";
import { Latest } from "../../studio/latest.ts";

test("one thing is done at a time, and of those wanted meanwhile the last", async () => {
  const [done, free] = [[], []];
  const latest = new Latest(async (what) => {
    await new Promise((resolve) => free.push(resolve));
    done.push(what);
  });
  await latest.done();
  for (const what of [1, 2, 3]) latest.want(what);
  assert.equal(free.length, 1);
  free.shift()();
  while (!free.length) await new Promise(setImmediate);
  free.shift()();
  await latest.done();
  assert.deepEqual(done, [1, 3]);
  latest.want(4);
  free.shift()();
  await latest.done();
  assert.deepEqual(done, [1, 3, 4]);
});
