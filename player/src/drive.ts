/** Drive: the coordinates of all layers from what the joints and controls do. Plain arithmetic on typed arrays. */

import type { Description, Driver } from "./description.js";
import { ontoSpan } from "./span.js";

/** What pose spaces see: of each joint its part's rotation (4) and shift (3), and the values of the controls. */
export interface Features {
  turns: Float64Array;
  shifts: Float64Array;
  controls: Float64Array;
}

/** Evaluates all drivers of a description, without their bounds; its buffers are made once. */
export class Drive {
  /** The coordinates of all drivers, one after the other. */
  readonly coordinates: Float64Array;
  private readonly place: Float64Array;
  private readonly terms: Float64Array;
  private readonly angles: Float64Array;

  constructor(private readonly description: Description) {
    const { drivers, joints } = description;
    let most = 0;
    let widest = 0;
    drivers.forEach((driver) => {
      most = Math.max(most, driver.weights.length / Math.max(1, driver.columns));
      widest = Math.max(widest, driver.dimensions);
    });
    this.coordinates = new Float64Array(description.coordinates);
    this.place = new Float64Array(widest);
    this.terms = new Float64Array(most);
    this.angles = new Float64Array(3 * joints.length);
  }

  /** Write the coordinates of a pose. */
  update(features: Features): void {
    const { joints, drivers } = this.description;
    joints.forEach((joint, k) => angles(joint.rest, joint.axes, features.turns, k, this.angles));
    drivers.forEach((driver, k) => {
      this.locate(driver, features);
      this.evaluate(k);
    });
  }

  /** Return the coordinates of a driver at one of its samples; the next call overwrites them. */
  atSample(number: number, sample: number): Float64Array {
    const { drivers, starts } = this.description;
    const { centres, dimensions, columns } = drivers[number];
    this.place.set(centres.subarray(sample * dimensions, (sample + 1) * dimensions));
    this.evaluate(number);
    return this.coordinates.subarray(starts[number], starts[number] + columns);
  }

  /** Write a driver's coordinates at the place. */
  private evaluate(number: number): void {
    const driver = this.description.drivers[number];
    if (driver.kernel === "shepard") this.share(driver);
    else this.radiate(driver);
    this.weigh(driver, this.description.starts[number]);
  }

  /** Write where a pose lies in the space of a driver. */
  private locate(driver: Driver, { turns, shifts, controls }: Features): void {
    const { inputs, kind } = driver;
    const place = this.place;
    if (kind === "controls" || kind === "points") {
      for (let d = 0; d < inputs.length; d++) place[d] = controls[inputs[d]];
    } else if (kind === "freedoms") {
      for (let d = 0; d < inputs.length / 2; d++) {
        const joint = inputs[2 * d];
        const axis = inputs[2 * d + 1];
        if (joint < 0) place[d] = controls[axis];
        else place[d] = axis < 3 ? this.angles[3 * joint + axis] : shifts[3 * joint + axis - 3];
      }
    } else {
      for (let d = 0; d < inputs.length; d++) {
        const joint = inputs[d];
        const rest = this.description.joints[joint].rest;
        let side = 1;
        if (kind === "quaternions") {
          let agree = 0;
          for (let i = 0; i < 4; i++) agree += turns[4 * joint + i] * rest[i];
          side = agree < 0 ? -1 : 1;
        }
        for (let i = 0; i < 4; i++) place[4 * d + i] = side * turns[4 * joint + i];
      }
    }
  }

  /** Write the terms of a sum of radial functions and of its tail. */
  private radiate(driver: Driver): void {
    const { samples, dimensions, reach, centres } = driver;
    const { place, terms } = this;
    const turning = driver.kind === "joint";
    if (driver.span) ontoSpan(driver, place, terms);
    const far = square(driver, place, 0);
    if (far > reach * reach) {
      // Beyond its reach from the first sample: the place at that distance in the same direction.
      const within = reach / Math.sqrt(far);
      if (turning) for (let d = 0; d < dimensions; d += 4) toward(centres, place, d, within);
      else for (let d = 0; d < dimensions; d++) place[d] = centres[d] + within * (place[d] - centres[d]);
    }
    for (let m = 0; m < samples; m++) terms[m] = radial(driver.kernel, square(driver, place, m));
    if (driver.tail === "none") return;
    terms[samples] = 1;
    if (driver.tail === "constant") return;
    for (let d = 0; d < dimensions; d++) terms[samples + 1 + d] = place[d] - centres[d];
    if (!turning) return;
    for (let d = 0; d < dimensions; d += 4) {
      let agree = 0;
      for (let i = d; i < d + 4; i++) agree += place[i] * centres[i];
      if (agree < 0) for (let i = d; i < d + 4; i++) terms[samples + 1 + i] = -place[i] - centres[i];
    }
  }

  /** Write each sample's share by inverse distance. */
  private share(driver: Driver): void {
    const { samples, power, reach } = driver;
    const { place, terms } = this;
    let nearest = 0;
    for (let m = 0; m < samples; m++) {
      terms[m] = square(driver, place, m);
      if (terms[m] < terms[nearest]) nearest = m;
    }
    const least = terms[nearest];
    const close = Math.sqrt(least) <= reach;
    let total = 0;
    for (let m = 0; m < samples; m++) {
      if (close) terms[m] = m === nearest ? 1 : 0;
      else terms[m] = terms[m] > 0 ? (least / terms[m]) ** (0.5 * power) : 1;
      total += terms[m];
    }
    for (let m = 0; m < samples; m++) terms[m] /= total;
  }

  /** Write a driver's coordinates: its terms times their weights. */
  private weigh(driver: Driver, start: number): void {
    const { columns, weights } = driver;
    const { coordinates, terms } = this;
    const rows = weights.length / columns;
    for (let c = 0; c < columns; c++) {
      let total = 0;
      for (let row = 0; row < rows; row++) total += terms[row] * weights[row * columns + c];
      coordinates[start + c] = total;
    }
  }
}

/** The squared distance of a place from a driver's sample `m`, over the radius. */
function square(driver: Driver, place: Float64Array, m: number): number {
  const { centres, dimensions, radius } = driver;
  const at = m * dimensions;
  let total = 0;
  if (driver.kind !== "joint") {
    for (let d = 0; d < dimensions; d++) {
      const gap = (place[d] - centres[at + d]) / radius[d];
      total += gap * gap;
    }
    return total;
  }
  for (let d = 0; d < dimensions; d += 4) {
    let apart = 0;
    let around = 0;
    for (let i = d; i < d + 4; i++) {
      apart += (place[i] - centres[at + i]) ** 2;
      around += (place[i] + centres[at + i]) ** 2;
    }
    // The chord between unit quaternions is 2 sin(angle / 4).
    const angle = (4 * Math.asin(Math.min(1, 0.5 * Math.sqrt(Math.min(apart, around))))) / radius[d / 4];
    total += angle * angle;
  }
  return total;
}

/** A radial function of a squared distance. */
function radial(kernel: Driver["kernel"], s: number): number {
  switch (kernel) {
    case "gaussian":
      return Math.exp(-0.5 * s);
    case "exponential":
      return Math.exp(-Math.sqrt(s));
    case "multiquadric":
      return Math.sqrt(1 + s);
    case "thin_plate":
      return s > 0 ? 0.5 * s * Math.log(s) : 0;
    case "linear":
      return Math.sqrt(s);
    default:
      return s * Math.sqrt(s);
  }
}

/** Move the rotation at `d` of a place to a part of its way from the first sample's. */
function toward(centres: Float64Array, place: Float64Array, d: number, part: number): void {
  let agree = 0;
  for (let i = d; i < d + 4; i++) agree += place[i] * centres[i];
  const side = agree < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(side * agree, 1));
  const sine = Math.sin(angle);
  if (sine <= 1e-9) return;
  const kept = Math.sin((1 - part) * angle) / sine;
  const taken = (side * Math.sin(part * angle)) / sine;
  for (let i = d; i < d + 4; i++) place[i] = kept * centres[i] + taken * place[i];
}

/** Write the angles of a joint's part about its axes: its rotation from rest as a rotation vector, seen along them. */
function angles(rest: Float64Array, axes: Float64Array, turns: Float64Array, joint: number, out: Float64Array): void {
  const [p, q, r, s] = rest;
  const at = 4 * joint;
  const x = turns[at];
  const y = turns[at + 1];
  const z = turns[at + 2];
  const w = turns[at + 3];
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
  for (let a = 0; a < 3; a++) out[3 * joint + a] = axes[3 * a] * i + axes[3 * a + 1] * j + axes[3 * a + 2] * k;
}
