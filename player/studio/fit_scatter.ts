/** Earlier fits as dots: the error of each against the bytes it stores, both axes logarithmic. */

import { drawing, named, shape } from "./drawing.js";
import { short } from "./line_chart.js";
import type { Fit } from "./fits.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [288, 132, 58, 22, 12, 32];

/** Methods that reproduce their examples have errors that are rounding alone: below this they are all the same. */
const EXACT = 1e-3;

export function fitScatter(fits: Fit[]): SVGSVGElement {
  const chart = drawing(WIDTH, HEIGHT, "error of each fit against its bytes per vertex", "scatter");
  const x = axis(
    fits.map((fit) => fit.bytesPerVertex),
    LEFT,
    WIDTH - RIGHT,
  );
  const y = axis(
    fits.map((fit) => fit.error),
    HEIGHT - BOTTOM,
    TOP,
    EXACT,
  );
  const frame = `M${LEFT - 6} ${TOP - 6}V${HEIGHT - BOTTOM + 6}H${WIDTH}`;
  chart.append(shape("path", { d: frame, class: "frame" }));
  for (const end of x.ends) {
    const place = { x: x.at(end), y: HEIGHT - BOTTOM + 17, class: "across" };
    chart.append(shape("text", place, short(end)));
  }
  for (const end of y.ends) {
    const words = end === EXACT ? `≤ ${short(end)}` : short(end);
    chart.append(shape("text", { x: LEFT - 10, y: y.at(end) + 4, class: "up" }, words));
  }
  chart.append(shape("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 4, class: "across" }, "bytes per vertex"));
  for (const { number, method, error, bytesPerVertex } of fits) {
    const [cx, cy] = [x.at(bytesPerVertex), y.at(error)];
    const dot = shape("g", { class: "dot" });
    dot.append(shape("circle", { cx, cy, r: 4 }), shape("text", { x: cx + 6, y: cy - 5 }, `${number}`));
    chart.append(named(dot, `${number} ${method}: error ${short(error)}, ${short(bytesPerVertex)} bytes per vertex`));
  }
  return chart;
}

interface Axis {
  /** The numbers at its ends, one where all are the same. */
  ends: number[];
  at(value: number): number;
}

/** A logarithmic axis around numbers, from one position to another; those below the least are shown there. */
function axis(values: number[], from: number, to: number, least = 1): Axis {
  const shown = values.map((value) => Math.max(value, least));
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const span = Math.log(high / low);
  const at = (value: number) =>
    span > 0 ? from + ((to - from) * Math.log(Math.max(value, low) / low)) / span : (from + to) / 2;
  return { ends: [...new Set([low, high])], at };
}
