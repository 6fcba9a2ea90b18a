/** Influence: how strongly a sculpt acts on the way from rest through its pose, and where the skin's pose is on that way. */

import type { PoseSkin } from "../three/index.js";
import type { Answer } from "./link.js";
import { angleAbout, numberOf } from "./pose_numbers.js";
import type { Freedom } from "./pose_numbers.js";

/** What distances in a pose space are measured in. */
export type UnitName = "radians" | "control" | "metres" | "fraction";

/** The way through a pose space: rotations of joints about fixed axes, or steps of its degrees of freedom. */
interface Axis {
  inputs: number[] | Freedom[];
  /** The rotations of the joints, four numbers each, or the degrees of freedom at rest. */
  start: number[];
  /** The fraction of the way per radian of a joint, or per step of a degree of freedom. */
  gains: number[];
  /** Of each joint the axis that it rotates about. */
  axes: number[][];
}

/** A joint or control of the layer, and what its radius is measured in: so many of the unit per number of the fit. */
export interface Control {
  name: string;
  unit: UnitName;
  scale: number;
}

export class Influence {
  readonly unit: UnitName;
  /** The curve (S,). */
  readonly distance: Float32Array;
  readonly weight: Float32Array;
  /** How far from rest its own pose is, and the distance from there at which its radius ends. */
  readonly own: number;
  readonly radius: number;
  /** The distance that a radius of 1 is. */
  readonly scale: number;
  /** Distances of other sculpts of its layer. */
  readonly others: Record<string, number>;
  readonly controls: Control[];
  private readonly layer: string;
  private readonly column: number;
  private readonly axis: Axis;

  /** Parameters: its name, and the answer to the request `influence`. */
  constructor(
    readonly name: string,
    { ok, arrays }: Answer,
  ) {
    this.unit = ok.unit as UnitName;
    this.distance = arrays.distance as Float32Array;
    this.weight = arrays.weight as Float32Array;
    this.own = ok.own as number;
    this.radius = ok.radius as number;
    this.scale = ok.scale as number;
    this.others = ok.others as Record<string, number>;
    this.controls = ok.controls as Control[];
    this.layer = ok.layer as string;
    this.column = ok.column as number;
    this.axis = ok.axis as Axis;
  }

  /** The farthest distance of the curve. */
  get end(): number {
    return this.distance[this.distance.length - 1];
  }

  /** How far from rest the pose of a skin is along the way. */
  along(skin: PoseSkin): number {
    const { inputs, start, gains, axes } = this.axis;
    const step = (input: number | Freedom, k: number) =>
      typeof input === "number"
        ? angleAbout(skin, input, start.slice(4 * k, 4 * k + 4), axes[k])
        : numberOf(skin, input) - start[k];
    const fraction = inputs.reduce((sum: number, input, k) => sum + gains[k] * step(input, k), 0);
    return fraction * this.own;
  }

  /** How strongly it acts in the pose of a skin, as that is drawn; null where the skin does not have it. */
  weightIn(skin: PoseSkin): number | null {
    const { layers, starts } = skin.description;
    const layer = layers.find(({ name }) => name === this.layer);
    return layer ? skin.coordinates[starts[layer.driver] + this.column] : null;
  }
}
