/** Poses between key poses: rotations by slerp and the rest linearly, or smoothly through all of them. */

import { Quaternion } from "three";

import type { PagePose } from "./data.js";

/**
 * The pose at a position in a list of at least one, counted in poses from 0. Without `smooth`, rotations are
 * interpolated by slerp, and translations and controls linearly. With it, every number follows a Catmull-Rom curve, and
 * quaternions are brought back to unit length.
 */
export function blended(poses: readonly PagePose[], position: number, smooth: boolean): PagePose {
  const last = poses.length - 1;
  const clamped = Math.min(last, Math.max(0, position));
  const index = Math.min(Math.max(0, last - 1), Math.floor(clamped));
  const [share, name] = [clamped - index, "blend"];
  const [from, to] = [poses[index], poses[Math.min(last, index + 1)]];
  const around = [poses[Math.max(0, index - 1)], from, to, poses[Math.min(last, index + 2)]];
  const joints = smooth ? curve(around, share) : line(from.joints, to.joints, share);
  const controls: Record<string, number> = {};
  for (const control of Object.keys(from.controls)) {
    const values = around.map((pose) => pose.controls[control] ?? 0);
    controls[control] = smooth ? catmullRom(values, share) : values[1] + share * (values[2] - values[1]);
  }
  return { name, joints, controls };
}

/** Numbers per joint: four of its rotation and three of its translation. */
const PER_JOINT = 7;

function line(from: number[], to: number[], share: number): number[] {
  const rotations = (4 * from.length) / PER_JOINT;
  const values = from.map((value, k) => value + share * (to[k] - value));
  for (let k = 0; k < rotations; k += 4) Quaternion.slerpFlat(values, k, from, k, to, k, share);
  return values;
}

function curve(around: PagePose[], share: number): number[] {
  const rotations = (4 * around[1].joints.length) / PER_JOINT;
  const rows = around.map(({ joints }) => [...joints]);
  for (let k = 0; k < rotations; k += 4) agree(rows, k);
  const values = rows[0].map((_, k) => catmullRom([rows[0][k], rows[1][k], rows[2][k], rows[3][k]], share));
  for (let k = 0; k < rotations; k += 4) {
    new Quaternion().fromArray(values, k).normalize().toArray(values, k);
  }
  return values;
}

/** Two quaternions are one rotation: let each have the sign of the one before. */
function agree(rows: number[][], start: number): void {
  for (let row = 1; row < rows.length; row++) {
    let product = 0;
    for (let k = start; k < start + 4; k++) product += rows[row][k] * rows[row - 1][k];
    if (product < 0) for (let k = start; k < start + 4; k++) rows[row][k] *= -1;
  }
}

function catmullRom([a, b, c, d]: number[], t: number): number {
  const linear = c - a;
  const square = 2 * a - 5 * b + 4 * c - d;
  const cube = 3 * (b - c) + d - a;
  return b + 0.5 * t * (linear + t * (square + t * cube));
}
