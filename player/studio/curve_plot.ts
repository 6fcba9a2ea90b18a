/** A drawing of a sculpt's influence: its weight over the distance from rest, and where the pose is now. */

import { ticksUpTo } from "../page/colour_bar.js";
import { place, svg } from "../page/elements.js";
import type { Influence } from "./influence.js";
import { UNITS, distanceWords } from "./units.js";

/** The drawing's size and the margins around the curve, in its own pixels. */
const [WIDTH, HEIGHT] = [268, 150];
const [LEFT, RIGHT, TOP, BOTTOM] = [20, 10, 14, 22];

/** How far beyond the axis of the weights marks reach. */
const MARK = 5;

export class CurvePlot {
  readonly picture = svg("svg", "plot");
  private readonly band = svg("rect", "radius");
  private readonly fixed = svg("g");
  private readonly line = svg("line", "now");
  private readonly dot = svg("circle", "now");
  private curve: Influence | null = null;
  /** The least and the largest weight that there is room for. */
  private least = 0;
  private most = 1;

  constructor() {
    this.picture.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.picture.setAttribute("role", "img");
    place(this.dot, { r: 4.5 });
    this.picture.append(this.band, this.fixed, this.line, this.dot);
  }

  /** Draw a curve. */
  show(curve: Influence): void {
    this.curve = curve;
    this.least = Math.min(0, ...curve.weight);
    this.most = Math.max(1, ...curve.weight);
    const others = Object.entries(curve.others).filter(([, at]) => at >= 0 && at <= curve.end);
    this.fixed.replaceChildren(
      ...this.frame(curve),
      this.path(curve),
      ...others.map(([name, at]) => this.mark("other", at, 0, name)),
      this.mark("own", curve.own, 1, curve.name),
    );
    const words = others.map(([name, at]) => `${name} at ${distanceWords(at, UNITS[curve.unit])}`);
    const label = [`influence of ${curve.name}`, ...words].join("; ");
    this.picture.setAttribute("aria-label", label);
    this.showRadius(curve.radius);
  }

  /** Shade what is nearer to the sculpt's own pose than a radius. */
  showRadius(radius: number): void {
    if (!this.curve) return;
    const { own, end } = this.curve;
    const [from, to] = [this.x(Math.max(0, own - radius)), this.x(Math.min(end, own + radius))];
    place(this.band, { x: from, y: TOP, width: to - from, height: HEIGHT - TOP - BOTTOM });
  }

  /** Show where the pose is: its distance, and the weight there if it is known. Beyond the drawing, at its edge. */
  follow(distance: number, weight: number | null): void {
    if (!this.curve) return;
    const x = this.x(Math.min(this.curve.end, Math.max(0, distance)));
    place(this.line, { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM });
    this.dot.classList.toggle("hidden", weight === null);
    if (weight !== null) place(this.dot, { cx: x, cy: this.y(Math.min(this.most, Math.max(this.least, weight))) });
    this.line.classList.toggle("beyond", distance < 0 || distance > this.curve.end);
  }

  private x(distance: number): number {
    return LEFT + ((WIDTH - LEFT - RIGHT) * distance) / (this.curve?.end ?? 1);
  }

  private y(weight: number): number {
    return TOP + ((HEIGHT - TOP - BOTTOM) * (this.most - weight)) / (this.most - this.least);
  }

  /** Lines at the weights 0 and 1, and the distances. */
  private frame({ end, unit }: Influence): SVGElement[] {
    const { factor } = UNITS[unit];
    const lines = [0, 1].flatMap((weight) => {
      const line = svg("line", weight ? "grid" : "axis");
      place(line, { x1: LEFT, x2: WIDTH - RIGHT, y1: this.y(weight), y2: this.y(weight) });
      return [line, this.text(`${weight}`, LEFT - 6, this.y(weight) + 4, "end")];
    });
    const ticks = ticksUpTo(end * factor).flatMap((shown) => {
      const x = this.x(shown / factor);
      const tick = svg("line", "axis");
      place(tick, { x1: x, x2: x, y1: this.y(0), y2: this.y(0) + 3 });
      return [tick, this.text(distanceWords(shown / factor, UNITS[unit]), x, HEIGHT - 6, "middle")];
    });
    return [...lines, ...ticks];
  }

  private path({ distance, weight }: Influence): SVGElement {
    const curve = svg("path", "curve");
    const points = Array.from(distance, (at, k) => `${this.x(at).toFixed(1)} ${this.y(weight[k]).toFixed(1)}`);
    curve.setAttribute("d", `M${points.join("L")}`);
    return curve;
  }

  /** A mark with a name where a sculpt is, as high as a weight. */
  private mark(kind: string, distance: number, weight: number, name: string): SVGElement {
    const [group, line, spot, title] = [svg("g", kind), svg("line"), svg("circle"), svg("title")];
    const [x, y] = [this.x(distance), this.y(weight)];
    title.textContent = `${name}: ${distanceWords(distance, UNITS[this.curve?.unit ?? "control"])}`;
    place(line, { x1: x, x2: x, y1: y, y2: this.y(0) });
    place(spot, { cx: x, cy: y, r: MARK - 1 });
    group.append(title, line, spot);
    return group;
  }

  private text(words: string, x: number, y: number, anchor: string): SVGElement {
    const text = svg("text");
    text.textContent = words;
    text.setAttribute("text-anchor", anchor);
    place(text, { x, y });
    return text;
  }
}
