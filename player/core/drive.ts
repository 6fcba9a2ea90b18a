/** Drive: the coordinates of all layers from what the joints and controls do. Plain arithmetic on typed arrays. */

import type { Description, Driver } from "./description.js";
import type { Features } from "./features.js";
import { KERNELS } from "./kernels.js";
import type { KernelName } from "./kernels.js";
import { ontoSpan } from "./span.js";

/** Evaluates all drivers of a description, without their bounds; its buffers are made once. */
export class Drive {
  /** The coordinates of all drivers, one after the other. */
  readonly coordinates: Float64Array;
  /** The position of a pose in the space of one driver. */
  private readonly position: Float64Array;
  /** What the weights of one driver are multiplied by: a term per sample, then those of its tail. */
  private readonly terms: Float64Array;
  /** Three per joint: its rotation from rest, as angles about its axes. */
  private readonly angles: Float64Array;

  constructor(private readonly description: Description) {
    const { drivers, joints } = description;
    let mostTerms = 0;
    let mostDimensions = 0;
    for (const { weights, columns, dimensions } of drivers) {
      mostTerms = Math.max(mostTerms, weights.length / Math.max(1, columns));
      mostDimensions = Math.max(mostDimensions, dimensions);
    }
    this.coordinates = new Float64Array(description.coordinates);
    this.position = new Float64Array(mostDimensions);
    this.terms = new Float64Array(mostTerms);
    this.angles = new Float64Array(3 * joints.length);
  }

  /** Write the coordinates of a pose. */
  update(features: Features): void {
    const { joints, drivers } = this.description;
    joints.forEach(({ rest, axes }, k) => {
      writeAngles(rest, axes, features.rotations, k, this.angles);
    });
    drivers.forEach((driver, k) => {
      this.locate(driver, features);
      this.evaluate(k);
    });
  }

  /** Return the coordinates of a driver at one of its samples; the next call overwrites them. */
  atSample(number: number, sample: number): Float64Array {
    const { drivers, starts } = this.description;
    const { centres, dimensions, columns } = drivers[number];
    this.position.set(centres.subarray(sample * dimensions, (sample + 1) * dimensions));
    this.evaluate(number);
    return this.coordinates.subarray(starts[number], starts[number] + columns);
  }

  /** Write a driver's coordinates at the position. */
  private evaluate(number: number): void {
    const driver = this.description.drivers[number];
    if (driver.kernel === "shepard") this.writeShares(driver);
    else this.writeTerms(driver, driver.kernel);
    this.writeCoordinates(driver, this.description.starts[number]);
  }

  /** Write the position of a pose in the space of a driver. */
  private locate({ inputs, kind }: Driver, features: Features): void {
    const { position } = this;
    switch (kind) {
      case "controls":
        for (let d = 0; d < inputs.length; d++) position[d] = features.controls[inputs[d]];
        return;
      case "freedoms":
        for (let d = 0; d < inputs.length / 2; d++) {
          position[d] = this.freedom(inputs[2 * d], inputs[2 * d + 1], features);
        }
        return;
      case "joint":
        for (let d = 0; d < inputs.length; d++) this.locateRotation(d, inputs[d], features, 1);
        return;
      case "quaternions":
        for (let d = 0; d < inputs.length; d++) {
          const { rest } = this.description.joints[inputs[d]];
          const sign = dot(features.rotations, 4 * inputs[d], rest, 0) < 0 ? -1 : 1;
          this.locateRotation(d, inputs[d], features, sign);
        }
        return;
      default:
        throw new Error(`posespace: unknown kind of pose space: ${kind satisfies never}`);
    }
  }

  /** A degree of freedom: an angle or a translation of a joint, or a control, whose joint is -1. */
  freedom(joint: number, axis: number, { translations, controls }: Features): number {
    if (joint < 0) return controls[axis];
    return axis < 3 ? this.angles[3 * joint + axis] : translations[3 * joint + axis - 3];
  }

  /** Write the rotation of a joint as the `d`-th of the position. */
  private locateRotation(d: number, joint: number, { rotations }: Features, sign: number): void {
    for (let i = 0; i < 4; i++) this.position[4 * d + i] = sign * rotations[4 * joint + i];
  }

  /** Write the terms of a sum of radial functions and of its tail. */
  private writeTerms(driver: Driver, kernel: KernelName): void {
    const { position, terms } = this;
    const value = KERNELS[kernel];
    if (driver.span) ontoSpan(driver, position, terms);
    bringWithinReach(driver, position);
    for (let sample = 0; sample < driver.samples; sample++)
      terms[sample] = value(squaredDistance(driver, position, sample));
    this.writeTail(driver);
  }

  /** Write the terms of a polynomial that is centred on the first sample. */
  private writeTail({ kind, tail, samples, dimensions, centres }: Driver): void {
    const { position, terms } = this;
    switch (tail) {
      case "none":
        return;
      case "constant":
        terms[samples] = 1;
        return;
      case "linear":
        terms[samples] = 1;
        for (let d = 0; d < dimensions; d++) terms[samples + 1 + d] = position[d] - centres[d];
        if (kind !== "joint") return;
        // A rotation is two quaternions: that on the side of the first sample counts.
        for (let d = 0; d < dimensions; d += 4) {
          if (dot(position, d, centres, d) >= 0) continue;
          for (let i = d; i < d + 4; i++) terms[samples + 1 + i] = -position[i] - centres[i];
        }
        return;
      default:
        throw new Error(`posespace: unknown tail: ${tail satisfies never}`);
    }
  }

  /** Write each sample's share by inverse distance. */
  private writeShares(driver: Driver): void {
    const { samples, power, reach } = driver;
    const { position, terms } = this;
    let nearest = 0;
    for (let sample = 0; sample < samples; sample++) {
      terms[sample] = squaredDistance(driver, position, sample);
      if (terms[sample] < terms[nearest]) nearest = sample;
    }
    const least = terms[nearest];
    const alone = Math.sqrt(least) <= reach;
    let total = 0;
    for (let sample = 0; sample < samples; sample++) {
      if (alone) terms[sample] = sample === nearest ? 1 : 0;
      // Ratios to the nearest distance, so that no power overflows.
      else terms[sample] = terms[sample] > 0 ? (least / terms[sample]) ** (0.5 * power) : 1;
      total += terms[sample];
    }
    for (let sample = 0; sample < samples; sample++) terms[sample] /= total;
  }

  /** Write a driver's coordinates: its terms times their weights. */
  private writeCoordinates({ columns, weights }: Driver, start: number): void {
    const { coordinates, terms } = this;
    const rows = weights.length / columns;
    for (let column = 0; column < columns; column++) {
      let total = 0;
      for (let row = 0; row < rows; row++) total += terms[row] * weights[row * columns + column];
      coordinates[start + column] = total;
    }
  }
}

/** Move a position that is beyond a driver's reach to that distance from the first sample, in the same direction. */
function bringWithinReach(driver: Driver, position: Float64Array): void {
  const { kind, reach, centres, dimensions } = driver;
  const square = squaredDistance(driver, position, 0);
  if (square <= reach * reach) return;
  const fraction = reach / Math.sqrt(square);
  if (kind === "joint") {
    for (let d = 0; d < dimensions; d += 4) rotateTowards(centres, position, d, fraction);
  } else {
    for (let d = 0; d < dimensions; d++) position[d] = centres[d] + fraction * (position[d] - centres[d]);
  }
}

/** The squared distance of a position from a driver's sample, over the radius. */
function squaredDistance(
  { kind, centres, dimensions, radius }: Driver,
  position: Float64Array,
  sample: number,
): number {
  const start = sample * dimensions;
  let total = 0;
  if (kind !== "joint") {
    for (let d = 0; d < dimensions; d++) {
      const difference = (position[d] - centres[start + d]) / radius[d];
      total += difference * difference;
    }
    return total;
  }
  for (let d = 0; d < dimensions; d += 4) {
    let same = 0;
    let opposite = 0;
    for (let i = d; i < d + 4; i++) {
      same += (position[i] - centres[start + i]) ** 2;
      opposite += (position[i] + centres[start + i]) ** 2;
    }
    // The chord between unit quaternions is 2 sin(angle / 4).
    const chord = Math.sqrt(Math.min(same, opposite));
    const angle = (4 * Math.asin(Math.min(1, 0.5 * chord))) / radius[d / 4];
    total += angle * angle;
  }
  return total;
}

/** Move the rotation at `d` of a position to a fraction of its angle from the first sample's. */
function rotateTowards(centres: Float64Array, position: Float64Array, d: number, fraction: number): void {
  const product = dot(position, d, centres, d);
  const sign = product < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(sign * product, 1));
  const sine = Math.sin(angle);
  if (sine <= 1e-9) return;
  const fromCentre = Math.sin((1 - fraction) * angle) / sine;
  const fromPosition = (sign * Math.sin(fraction * angle)) / sine;
  for (let i = d; i < d + 4; i++) position[i] = fromCentre * centres[i] + fromPosition * position[i];
}

/** The product of the quaternions at `i` of `a` and at `j` of `b`. */
function dot(a: Float64Array, i: number, b: Float64Array, j: number): number {
  return a[i] * b[j] + a[i + 1] * b[j + 1] + a[i + 2] * b[j + 2] + a[i + 3] * b[j + 3];
}

/** Write the angles of a joint about its axes: its rotation from rest as a rotation vector, seen along them. */
function writeAngles(
  rest: Float64Array,
  axes: Float64Array,
  rotations: Float64Array,
  joint: number,
  angles: Float64Array,
): void {
  const [p, q, r, s] = rest;
  const x = rotations[4 * joint];
  const y = rotations[4 * joint + 1];
  const z = rotations[4 * joint + 2];
  const w = rotations[4 * joint + 3];
  let i = s * x - p * w - q * z + r * y;
  let j = s * y + p * z - q * w - r * x;
  let k = s * z - p * y + q * x - r * w;
  const real = s * w + p * x + q * y + r * z;
  const sine = Math.hypot(i, j, k);
  const angle = 2 * Math.atan2(sine, Math.abs(real)) * (real < 0 ? -1 : 1);
  const scale = sine > 1e-12 ? angle / sine : real < 0 ? -2 : 2;
  i *= scale;
  j *= scale;
  k *= scale;
  for (let a = 0; a < 3; a++) angles[3 * joint + a] = axes[3 * a] * i + axes[3 * a + 1] * j + axes[3 * a + 2] * k;
}
