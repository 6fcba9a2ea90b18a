/** The colours of errors and other lengths over the picture: a bar with ticks and a unit. */

import { element } from "./elements.js";
import { HEAT } from "./heat_colours.js";

/** Most steps between ticks, and the steps themselves times a power of ten. */
const MOST_STEPS = 5;
const STEPS = [1, 2, 5, 10] as const;

/** Round numbers from 0 up to a largest one above 0, evenly spaced. */
export function ticksUpTo(largest: number): number[] {
  const power = 10 ** Math.floor(Math.log10(largest / MOST_STEPS));
  const step = power * (STEPS.find((each) => each * power * MOST_STEPS >= largest) ?? 10);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const count = Math.floor(largest / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, k) => Number((k * step).toFixed(digits)));
}

/** The bar from zero to the largest number that has a colour of its own; above, colours stay the same. */
export function colourBar(largest: number, unit: string, what = "error"): HTMLElement {
  const box = element("figure", "colour-bar");
  const bar = element("div", "bar");
  const ticks = element("div", "ticks");
  bar.style.background = `linear-gradient(to right, ${HEAT.join(", ")})`;
  for (const value of ticksUpTo(largest)) {
    const mark = element("span", "", `${value}`);
    mark.style.left = `${(100 * value) / largest}%`;
    ticks.append(mark);
  }
  const words = `${what}: 0 to ${Number(largest.toPrecision(2))} ${unit} or more`;
  box.append(element("figcaption", "", words), bar, ticks);
  return box;
}
