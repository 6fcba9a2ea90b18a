import assert from "node:assert/strict";
import { test } from "node:test";
import { readDescription, readTargetList } from "../../core/description.ts";
import { KERNEL_NAMES } from "../../core/kernels.ts";

/** A file with one joint, one driver over it and one layer. */
function content(driver = {}) {
  const joint = { node: 0, own: false, rest: [0, 0, 0, 1], origin: [0, 0, 0] };
  const usual = {
    kind: "controls",
    inputs: [0],
    kernel: "linear",
    tail: "none",
    radius: 0,
    centres: [1, 2],
    weights: [3, 1],
  };
  return {
    version: 1,
    unit: 1,
    joints: [joint],
    controls: ["smile"],
    drivers: [{ ...usual, ...driver }],
    layers: [{ name: "smile", driver: 0, bits: 32 }],
  };
}

const NUMBERS = Float64Array.of(1, 0, 1, 0.5, 0.25, 0, 0, 0).buffer;
const read = (driver) => readDescription(content(driver), NUMBERS, 1);

test("a driver is read with its samples and weights", () => {
  const [driver] = read().drivers;
  assert.deepEqual([...driver.centres], [0, 1]);
  assert.deepEqual([...driver.weights], [0.5, 0.25]);
  assert.equal(driver.reach, Infinity);
});

for (const kernel of KERNEL_NAMES) {
  test(`the kernel ${kernel} is known`, () => assert.equal(read({ kernel }).drivers[0].kernel, kernel));
}

for (const [field, value] of Object.entries({ kernel: "quintic", tail: "quadratic", kind: "moods" })) {
  test(`an unknown ${field} is refused by its name`, () => {
    assert.throws(() => read({ [field]: value }), {
      message: new RegExp(`^POSESPACE_drivers: drivers 0: ${field}: expected one of .*, got "${value}"$`),
    });
  });
}

test("a name that every object has is no kernel", () => {
  for (const kernel of ["constructor", "__proto__", "toString"])
    assert.throws(() => read({ kernel }), /expected one of/);
});

test("what is no text is refused in few words", () => {
  assert.throws(() => read({ kernel: ["a".repeat(1000)] }), /got a list$/);
  assert.throws(
    () => read({ kernel: "a\n".repeat(1000) }),
    ({ message }) => message.length < 250 && !message.includes("\n"),
  );
  assert.throws(() => read({ kernel: undefined }), /got nothing$/);
});

test("a target is a component of its layer", () => {
  const targets = { targets: [{ layer: 0, component: 0, low: -1, scale: 2 }, { offset: true }, {}] };
  const list = readTargetList(targets, read(), [3]);
  assert.deepEqual(
    list.map(({ kind }) => kind),
    ["component", "offset", "blend"],
  );
  assert.throws(() => readTargetList(targets, read(), [2]), /expected 2 as in primitive 0, got 3/);
});
