/** The numbers of a pose space, as the skin's pose has them now. */

import type { PoseSkin } from "../three/index.js";

/** A control by its name, or a joint and its degree of freedom: 0 to 2 are angles, 3 to 5 translations. */
export type Freedom = string | [number, number];

export function numberOf(skin: PoseSkin, freedom: Freedom): number {
  if (typeof freedom === "string") return skin.controls[freedom] ?? 0;
  return skin.freedom(...freedom);
}

/** The angle in radians of a joint from a rotation about an axis, without what rotates that axis away. */
export function angleAbout(skin: PoseSkin, joint: number, from: ArrayLike<number>, axis: readonly number[]): number {
  const [a, b, c, d] = [from[0], from[1], from[2], from[3]];
  const [x, y, z, w] = skin.rotation(joint);
  const real = a * x + b * y + c * z + d * w;
  // The inverse of the first rotation, times the second.
  const i = d * x - a * w - b * z + c * y;
  const j = d * y + a * z - b * w - c * x;
  const k = d * z - a * y + b * x - c * w;
  const sign = real < 0 ? -1 : 1;
  return 2 * Math.atan2(sign * (i * axis[0] + j * axis[1] + k * axis[2]), sign * real);
}
