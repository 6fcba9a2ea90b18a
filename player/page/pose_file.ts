/** Poses as a file that every command of posespace reads, in the unit of the skin; and such a file read back. */

import type { PagePose } from "./data.js";

/** What a file of poses is written for. */
export interface FileSkeleton {
  /** The names of its joints, and their rotations at rest, x y z w each. */
  names: string[];
  rests: number[];
  /** Metres per unit of length of the skin. */
  unit: number;
}

const FORM = "poses";
const VERSION = 1;

/** What a pose of such a file may hold. */
const PARTS = ["rotations", "translations", "controls", "time"];

/** The most poses that a file may have: each becomes a row on the page. */
const MOST_POSES = 1000;

/** The largest number that a file may hold. */
const LARGEST = 1e9;

/** Write poses that follow one another by some seconds. */
export function writePoses(poses: readonly PagePose[], skeleton: FileSkeleton, seconds: number): string {
  // Text by text: an object would move names such as "2" to its front.
  const entries = poses.map(
    (pose, k) => `  ${JSON.stringify(pose.name)}: ${JSON.stringify(entryOf(pose, skeleton, seconds * k))}`,
  );
  return `{"posespace": "${FORM}", "version": ${VERSION},\n "poses": {\n${entries.join(",\n")}}}\n`;
}

function entryOf({ joints, controls }: PagePose, { names, rests, unit }: FileSkeleton, time: number): object {
  const rotations: [string, number[]][] = [];
  const translations: [string, number[]][] = [];
  names.forEach((name, k) => {
    const rotation = joints.slice(4 * k, 4 * k + 4);
    const start = 4 * names.length + 3 * k;
    const translation = joints.slice(start, start + 3).map((value) => value / unit);
    if (rotation.some((value, axis) => value !== rests[4 * k + axis])) rotations.push([name, rotation]);
    if (translation.some((value) => value !== 0)) translations.push([name, translation]);
  });
  const moved = translations.length ? { translations: Object.fromEntries(translations) } : {};
  const dials = Object.keys(controls).length ? { controls } : {};
  return { time, rotations: Object.fromEntries(rotations), ...moved, ...dials };
}

/** Read the poses of a file's text. Throws an Error of one line: files are hostile until checked. */
export function readPoses(text: string, skeleton: FileSkeleton): PagePose[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error("expected poses as JSON, got another text");
  }
  const { posespace, version, poses } = partOf(content, "the file");
  if (posespace !== FORM || version !== VERSION) {
    throw new Error(`expected "posespace": "${FORM}", "version": ${VERSION}, as "save poses" writes them`);
  }
  const entries = Object.entries(partOf(poses, "poses"));
  if (!entries.length || entries.length > MOST_POSES) {
    throw new Error(`expected 1 to ${MOST_POSES} poses, got ${entries.length}`);
  }
  const read = entries.map(([name, entry]) => readPose(name, entry, skeleton));
  // An object moves names such as "2" to its front: times tell the order.
  if (read.every(({ time }) => time !== null)) read.sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
  return read.map(({ pose }) => pose);
}

function readPose(name: string, entry: unknown, { names, rests, unit }: FileSkeleton) {
  const where = `pose ${JSON.stringify(name)}`;
  const parts = partOf(entry, where);
  const unknown = Object.keys(parts).find((key) => !PARTS.includes(key));
  if (unknown !== undefined) throw new Error(`${where}: unknown key '${unknown}'; expected ${PARTS.join(", ")}`);
  const { rotations = {}, translations = {}, controls = {}, time = null } = parts;
  const joints = [...rests, ...new Array<number>(3 * names.length).fill(0)];
  const numbers = new Map(names.map((joint, k) => [joint, k]));
  const put = (part: unknown, size: number, start: number, scale: number) => {
    for (const [joint, values] of Object.entries(partOf(part, where))) {
      const number = numbers.get(joint);
      if (number === undefined) throw new Error(`${where}: the skin has no joint ${JSON.stringify(joint)}`);
      const read = numbersOf(values, size, `${where}: ${JSON.stringify(joint)}`);
      for (let k = 0; k < size; k++) joints[start + size * number + k] = scale * read[k];
    }
  };
  put(rotations, 4, 0, 1);
  put(translations, 3, 4 * names.length, unit);
  for (let k = 0; k < 4 * names.length; k += 4) normalize(joints, k, where);
  const dials = Object.entries(partOf(controls, where)).map(
    ([control, value]) => [control, numbersOf([value], 1, where)[0]] as const,
  );
  return {
    pose: { name, joints, controls: Object.fromEntries(dials) } satisfies PagePose,
    time: time === null ? null : numbersOf([time], 1, where)[0],
  };
}

function normalize(values: number[], start: number, where: string): void {
  const length = Math.hypot(...values.slice(start, start + 4));
  if (!(length > 0)) throw new Error(`${where}: expected quaternions of nonzero length`);
  // A length of one to the last bits stays: what was written comes back.
  if (Math.abs(length - 1) > 1e-12) for (let k = start; k < start + 4; k++) values[k] /= length;
}

function partOf(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`${where}: expected an object`);
  }
  return value as Record<string, unknown>;
}

function numbersOf(value: unknown, count: number, where: string): number[] {
  const fits = (number: unknown) => typeof number === "number" && Math.abs(number) <= LARGEST;
  if (!Array.isArray(value) || value.length !== count || !value.every(fits)) {
    throw new Error(`${where}: expected ${count} ${count === 1 ? "number" : "numbers"} of at most ${LARGEST}`);
  }
  return value as number[];
}
