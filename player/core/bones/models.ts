/** Kernel models: the rotation of each bone, and its amounts of corrections and detail, from aligned control points. */

import { LocalFrames } from "./frames.js";
import type { LearnedDescription } from "./learned_description.js";

export class BoneModels {
  /** The rotation of each bone, x y z w, and its amounts. */
  readonly quaternions: Float64Array;
  readonly amounts: Float64Array;
  readonly amountCount: number;
  private readonly frames: LocalFrames | null;
  /** With local frames: (B, S, C, 3) the control points of each bone in each example, in its local frame. */
  private readonly localSamples: Float64Array;
  /** Without: (M, S) the squared distance of each control point from where it is in each example. */
  private readonly gaps: Float64Array;
  /** Of one bone: its squared distance from each example, which models are the nearest, and what one model gives. */
  private readonly squares: Float64Array;
  private readonly nearest: Uint32Array;
  private readonly values: Float64Array;
  private readonly quaternion = new Float64Array(4);

  constructor(private readonly description: LearnedDescription) {
    const { bones, values, rest, near, nearCount, holds, sampleCount, blended } = description;
    this.amountCount = values - 4;
    this.quaternions = new Float64Array(4 * bones);
    this.amounts = new Float64Array(this.amountCount * bones);
    this.frames = holds && new LocalFrames(near, holds, nearCount, rest);
    this.gaps = new Float64Array(holds ? 0 : sampleCount * description.points.length);
    this.squares = new Float64Array(sampleCount);
    this.nearest = new Uint32Array(blended);
    this.values = new Float64Array(values);
    this.localSamples = this.frames ? samplesIn(this.frames, description) : new Float64Array(0);
  }

  /** Write the rotations and amounts at positions (M, 3) of the control points, without the motion of the whole. */
  predict(positions: Float64Array): void {
    const { bones, models } = this.description;
    if (!this.frames) this.compareAll(positions);
    for (let bone = 0; bone < bones; bone++) {
      if (this.frames) this.compareLocal(this.frames, bone, positions);
      else this.compare(bone);
      if (models === 1) this.single(bone);
      else this.blend(bone);
      if (this.frames) multiply(this.frames.quaternions, this.quaternions, 4 * bone);
    }
  }

  private compareAll(positions: Float64Array): void {
    const { samples, sampleCount } = this.description;
    const numbers = positions.length;
    for (let k = 0; k < numbers; k += 3) {
      for (let s = 0; s < sampleCount; s++) {
        const at = numbers * s + k;
        const x = positions[k] - samples[at];
        const y = positions[k + 1] - samples[at + 1];
        const z = positions[k + 2] - samples[at + 2];
        this.gaps[(k / 3) * sampleCount + s] = x * x + y * y + z * z;
      }
    }
  }

  private compare(bone: number): void {
    const { near, nearCount, sampleCount } = this.description;
    const { squares, gaps } = this;
    squares.fill(0);
    for (let c = nearCount * bone; c < nearCount * (bone + 1); c++) {
      const start = sampleCount * near[c];
      for (let s = 0; s < sampleCount; s++) squares[s] += gaps[start + s];
    }
  }

  private compareLocal(frames: LocalFrames, bone: number, positions: Float64Array): void {
    const { nearCount, sampleCount } = this.description;
    const { squares, localSamples } = this;
    frames.find(bone, positions);
    const { points } = frames;
    let at = 3 * nearCount * sampleCount * bone;
    for (let s = 0; s < sampleCount; s++) {
      let square = 0;
      for (let c = 0; c < 3 * nearCount; c++) {
        const gap = points[c] - localSamples[at++];
        square += gap * gap;
      }
      squares[s] = square;
    }
  }

  /** Write what the only model of a bone gives. */
  private single(bone: number): void {
    this.evaluate(bone, 0);
    toUnit(this.values, this.quaternions, 4 * bone);
    for (let k = 0; k < this.amountCount; k++) this.amounts[this.amountCount * bone + k] = this.values[4 + k];
  }

  /** Write what the models of a bone give whose examples are nearest, blended. */
  private blend(bone: number): void {
    const { squares, nearest, values, quaternions, amounts, amountCount, quaternion } = this;
    const spread = 2 * this.description.heat[bone] ** 2;
    this.findNearest();
    quaternions.fill(0, 4 * bone, 4 * bone + 4);
    amounts.fill(0, amountCount * bone, amountCount * (bone + 1));
    let [x, y, z, w, total] = [0, 0, 0, 0, 0];
    for (let k = 0; k < nearest.length; k++) {
      const share = Math.exp((squares[nearest[0]] - squares[nearest[k]]) / spread);
      this.evaluate(bone, nearest[k]);
      toUnit(values, quaternion, 0);
      if (k === 0) [x, y, z, w] = [quaternion[0], quaternion[1], quaternion[2], quaternion[3]];
      // Two quaternions stand for one rotation: each takes the sign of the nearest model's.
      const agrees = x * quaternion[0] + y * quaternion[1] + z * quaternion[2] + w * quaternion[3];
      const signed = agrees < 0 ? -share : share;
      for (let i = 0; i < 4; i++) quaternions[4 * bone + i] += signed * quaternion[i];
      for (let i = 0; i < amountCount; i++) amounts[amountCount * bone + i] += share * values[4 + i];
      total += share;
    }
    for (let i = 0; i < 4; i++) quaternion[i] = quaternions[4 * bone + i];
    toUnit(quaternion, quaternions, 4 * bone);
    for (let i = amountCount * bone; i < amountCount * (bone + 1); i++) amounts[i] /= total;
  }

  /** Write the examples with the smallest squares, nearest first; of equal ones the first. */
  private findNearest(): void {
    const { squares, nearest } = this;
    let count = 0;
    for (let s = 0; s < squares.length; s++) {
      let place = count;
      while (place > 0 && squares[nearest[place - 1]] > squares[s]) place--;
      if (place === nearest.length) continue;
      if (count < nearest.length) count++;
      for (let k = count - 1; k > place; k--) nearest[k] = nearest[k - 1];
      nearest[place] = s;
    }
  }

  /** Write the numbers that a model of a bone gives. */
  private evaluate(bone: number, model: number): void {
    const { models, sampleCount, widths, offsets, coefficients } = this.description;
    const { squares, values } = this;
    const row = models * bone + model;
    const count = values.length;
    const spread = -2 * widths[row] ** 2;
    for (let v = 0; v < count; v++) values[v] = offsets[count * row + v];
    let at = count * sampleCount * row;
    for (let s = 0; s < sampleCount; s++) {
      const kernel = Math.exp(squares[s] / spread);
      for (let v = 0; v < count; v++) values[v] += kernel * coefficients[at++];
    }
  }
}

/** The control points of each bone in each example (B, S, C, 3), in the bone's local frame. */
function samplesIn(
  frames: LocalFrames,
  { bones, samples, sampleCount, points, nearCount }: LearnedDescription,
): Float64Array {
  const local = new Float64Array(3 * bones * sampleCount * nearCount);
  const numbers = 3 * points.length;
  for (let s = 0; s < sampleCount; s++) {
    const positions = samples.subarray(numbers * s, numbers * (s + 1));
    for (let bone = 0; bone < bones; bone++) {
      frames.find(bone, positions);
      local.set(frames.points, 3 * nearCount * (sampleCount * bone + s));
    }
  }
  return local;
}

/** Write the first four values at unit length; a quaternion of no length becomes the identity. */
function toUnit(values: Float64Array, quaternions: Float64Array, start: number): void {
  const length = Math.sqrt(values[0] ** 2 + values[1] ** 2 + values[2] ** 2 + values[3] ** 2);
  const lost = !(length >= 1e-12);
  for (let i = 0; i < 4; i++) quaternions[start + i] = lost ? Number(i === 3) : values[i] / length;
}

/** Replace the quaternion at `start` of `b` by the product of that of `a` and it. */
function multiply(a: Float64Array, b: Float64Array, start: number): void {
  const [p, q, r, s] = [a[start], a[start + 1], a[start + 2], a[start + 3]];
  const [x, y, z, w] = [b[start], b[start + 1], b[start + 2], b[start + 3]];
  b[start] = s * x + p * w + q * z - r * y;
  b[start + 1] = s * y - p * z + q * w + r * x;
  b[start + 2] = s * z + p * y - q * x + r * w;
  b[start + 3] = s * w - p * x - q * y - r * z;
}
