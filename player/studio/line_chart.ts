/** A chart of lines over time, as SVG. */

import { drawing, named, shape } from "./drawing.js";

export interface Line {
  name: string;
  values: number[];
  /** The number of its colour, 0 to 7. */
  look: number;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [288, 120, 40, 16, 6];

/** Lines break where the time between two poses is more than this times the median: poses are missing there. */
const MISSING = 1.5;

/** The fraction of the range below which a value counts as zero. */
const ROUNDING = 1e-4;

/** The chart of lines at times in seconds; `unit` is that of their values. */
export function lineChart(title: string, unit: string, times: number[], lines: Line[]): SVGSVGElement {
  const chart = drawing(WIDTH, HEIGHT, `${title} over ${times.length} poses`, "line-chart");
  const [least, most] = rangeOf(lines);
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const x = (time: number) => LEFT + ((WIDTH - LEFT - 2) * (time - first)) / (last - first || 1);
  const y = (value: number) => TOP + ((HEIGHT - TOP - BOTTOM) * (most - value)) / (most - least || 1);
  chart.append(shape("line", { x1: LEFT, x2: WIDTH, y1: y(0), y2: y(0), class: "zero" }));
  for (const value of new Set([least, 0, most])) {
    // A number at zero that touches another is left out.
    const crowded = value === 0 && [least, most].some((end) => end !== 0 && Math.abs(y(end) - y(0)) < 12);
    if (!crowded) chart.append(shape("text", { x: LEFT - 4, y: y(value) + 4, class: "up" }, `${short(value)}${unit}`));
  }
  for (const { name, values, look } of lines) {
    const d = path(times, values, x, y);
    chart.append(named(shape("path", { d, class: `line${look}` }), name));
  }
  chart.append(shape("text", { x: LEFT, y: HEIGHT - 3 }, `${short(first)} s`));
  chart.append(shape("text", { x: WIDTH, y: HEIGHT - 3, class: "up" }, `${short(last)} s`));
  return chart;
}

/** The least and the largest value, and zero; what is zero but for rounding is. */
function rangeOf(lines: Line[]): [number, number] {
  const ends = lines.flatMap(({ values }) => values).reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [0, 0]);
  const [least, most] = ends.map((end) => (Math.abs(end) < ROUNDING * (ends[1] - ends[0]) ? 0 : end));
  return [least, most];
}

function path(times: number[], values: number[], x: (time: number) => number, y: (value: number) => number): string {
  const gaps = times.slice(1).map((time, k) => time - times[k]);
  const longest = MISSING * (gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? Infinity);
  const steps = values.map((value, k) => {
    const begins = k === 0 || gaps[k - 1] > longest;
    return `${begins ? "M" : "L"}${x(times[k]).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  return steps.join("");
}

/** A number in few digits. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 1e-3) return value.toExponential(1);
  return `${Number(value.toPrecision(size >= 1000 ? 4 : size >= 100 ? 3 : 2))}`;
}
