/** What a timeline shows: the frames of a clip or of the key poses, and where key poses are among them. */

import type { AnimationClip } from "three";

/** Frames per second where a clip does not tell, and of key poses. */
export const USUAL_RATE = 30;

/** The most frames per second that a clip is taken to have. */
const FASTEST = 240;

export interface Mark {
  seconds: number;
  name: string;
}

export interface Line {
  /** In seconds. */
  duration: number;
  /** Frames per second. */
  rate: number;
  /** Key poses. */
  marks: Mark[];
}

/** The frames per second of a clip: those of its track of most keys. */
export function frameRate(clip: AnimationClip): number {
  const times = clip.tracks.reduce<ArrayLike<number>>(
    (most, track) => (track.times.length > most.length ? track.times : most),
    [],
  );
  const seconds = times.length > 1 ? times[times.length - 1] - times[0] : 0;
  if (!(seconds > 0)) return USUAL_RATE;
  const rate = (times.length - 1) / seconds;
  const whole = Math.round(rate);
  // Times are 32-bit numbers.
  return Math.min(FASTEST, Math.abs(rate - whole) < 0.01 * rate ? whole : rate);
}

/** The number of the last frame; the first is 0. */
export function lastFrame({ duration, rate }: Line): number {
  return Math.max(0, Math.round(duration * rate));
}

/** The frame that is nearest to a time. */
export function frameAt(line: Line, seconds: number): number {
  return Math.min(lastFrame(line), Math.max(0, Math.round(seconds * line.rate)));
}

/** The time of a frame. */
export function timeOf({ duration, rate }: Line, frame: number): number {
  return Math.min(duration, Math.max(0, frame / rate));
}
