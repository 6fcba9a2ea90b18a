/** PosePlane: the poses of the sculpts on a plane, as the request `map` answers, and where the skin's pose is on it. */

import type { PoseSkin } from "../three/index.js";
import type { Answer } from "./link.js";
import { numberOf } from "./pose_numbers.js";
import type { Freedom } from "./pose_numbers.js";

export interface Dot {
  name: string;
  muted: boolean;
  /** Whether its pose is far from the plane: then the dot tells little of it. */
  off: boolean;
  x: number;
  y: number;
}

/** How far from the plane a pose is off it, over the distance of its dot from rest. */
const OFF = 0.5;

/** Distances that are rounding. */
const ROUNDING = 1e-4;

export class PosePlane {
  readonly dots: Dot[];
  /** What happens along the two axes; empty where nothing does. */
  readonly axes: string[];
  private readonly inputs: Freedom[];
  private readonly rest: ArrayLike<number>;
  private readonly extents: ArrayLike<number>;
  /** (2, A) */
  private readonly basis: ArrayLike<number>;

  constructor({ ok, arrays }: Answer) {
    const muted = ok.muted as boolean[];
    const { dots, residuals } = arrays;
    this.dots = (ok.names as string[]).map((name, k) => {
      const [x, y] = [dots[2 * k], dots[2 * k + 1]];
      return { name, muted: muted[k], off: residuals[k] > OFF * Math.hypot(x, y) + ROUNDING, x, y };
    });
    const [across, up] = (ok.axes as { words: string }[]).map(({ words }) => words);
    this.axes = [across, up === across && up ? `${up} about another axis` : up];
    this.inputs = ok.inputs as Freedom[];
    [this.rest, this.extents, this.basis] = [arrays.rest, arrays.extents, arrays.basis];
  }

  /** The point of the skin's pose, or of the plane's pose that is nearest to it. */
  point(skin: PoseSkin): [number, number] {
    const { inputs, rest, extents, basis } = this;
    let [x, y] = [0, 0];
    inputs.forEach((input, k) => {
      const step = (numberOf(skin, input) - rest[k]) / extents[k];
      x += basis[k] * step;
      y += basis[inputs.length + k] * step;
    });
    return [x, y];
  }
}
