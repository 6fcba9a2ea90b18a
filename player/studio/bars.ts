/** Singular values as small bars; a bar is a button that shows its component. */

import { drawing, named, shape } from "./drawing.js";
import { short } from "./line_chart.js";

const [WIDTH, HEIGHT, WIDEST] = [288, 56, 24];

/** Powers of ten between the full height and no height. */
const DECADES = 4;

/**
 * Bars of singular values, largest first, on a logarithmic scale.
 *
 * The first `stored` are components that the skin has: these can be chosen, the rest were left out.
 */
export function singularBars(
  values: number[],
  stored: number,
  chosen: number,
  choose: (component: number) => void,
): SVGSVGElement {
  const bars = drawing(WIDTH, HEIGHT, `${values.length} singular values, ${stored} of them stored`, "bars");
  bars.setAttribute("role", "group");
  const pitch = Math.min(WIDEST, WIDTH / Math.max(1, values.length));
  values.forEach((value, k) => {
    const share = value > 0 ? 1 + Math.log10(value / values[0]) / DECADES : 0;
    const high = Math.max(2, Math.min(1, share) * (HEIGHT - 4));
    const bar = shape("g", { class: k >= stored ? "left-out" : k === chosen ? "chosen" : "stored" });
    // All of its column can be pressed, however low the bar.
    const column = { x: k * pitch, y: 0, width: pitch, height: HEIGHT, class: "column" };
    bar.append(shape("rect", column));
    const seen = { x: k * pitch + 1, y: HEIGHT - high, width: Math.max(1, pitch - 2), height: high };
    bar.append(shape("rect", { ...seen, class: "bar" }));
    named(bar, `component ${k + 1}: ${short(value)}${k < stored ? "" : ", left out"}`);
    if (k < stored) pressable(bar, `component ${k + 1}`, k === chosen, () => choose(k));
    bars.append(bar);
  });
  return bars;
}

function pressable(bar: SVGGElement, words: string, pressed: boolean, press: () => void): void {
  const attributes = { role: "button", tabindex: "0", "aria-label": words, "aria-pressed": `${pressed}` };
  for (const [name, value] of Object.entries(attributes)) bar.setAttribute(name, value);
  bar.addEventListener("click", press);
  bar.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    press();
  });
}
