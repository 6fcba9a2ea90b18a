import assert from "node:assert/strict";
import { test } from "node:test";
import { Keys } from "../../page/keys.ts";

for (const kind of ["HTMLSelectElement", "HTMLButtonElement", "HTMLInputElement"]) globalThis[kind] ??= class {};

/** Keys of a window that a test presses; `heard` are those that did something. */
function keyboard(dragging = () => false) {
  const heard = [];
  let press = () => {};
  globalThis.window = {
    addEventListener: (_, listener) => {
      press = listener;
    },
  };
  const keys = new Keys(dragging);
  for (const name of ["x", "X", "[", "Ctrl+z", "Ctrl+Shift+z", "ArrowLeft"]) {
    keys.add({ words: name, presses: { [name]: () => heard.push(name) }, duringDrags: name.startsWith("Ctrl") });
  }
  return {
    heard,
    press: (key, held = {}, graph = false) =>
      press({ key, target: null, ...held, preventDefault: () => {}, getModifierState: () => graph }),
  };
}

test("letters go by Shift, whatever Caps Lock is", () => {
  const { heard, press } = keyboard();
  press("x");
  press("X", { shiftKey: true });
  press("X");
  press("x", { shiftKey: true });
  press("Z", { ctrlKey: true });
  press("Z", { metaKey: true });
  press("z", { ctrlKey: true, shiftKey: true });
  assert.deepEqual(heard, ["x", "X", "x", "X", "Ctrl+z", "Ctrl+z", "Ctrl+Shift+z"]);
});

test("keys with Alt are the system's, characters of AltGr are not", () => {
  const { heard, press } = keyboard();
  press("x", { altKey: true });
  press("ArrowLeft", { altKey: true });
  press("z", { altKey: true, ctrlKey: true });
  assert.deepEqual(heard, []);
  press("[", { altKey: true, ctrlKey: true }, true);
  press("[", {}, true);
  assert.deepEqual(heard, ["[", "["]);
});

test("during a drag only the keys that belong to it do something", () => {
  const { heard, press } = keyboard(() => true);
  for (const key of ["x", "[", "ArrowLeft"]) press(key);
  press("z", { ctrlKey: true });
  assert.deepEqual(heard, ["Ctrl+z"]);
});
