/** The brushes, in the order of the panel. */

import type { Dab } from "./dab.js";
import * as flatten from "./flatten.js";
import * as grab from "./grab.js";
import * as inflate from "./inflate.js";
import * as smooth from "./smooth.js";
import type { SculptSurface } from "./surface.js";

export interface Brush {
  name: string;
  key: string;
  /** Its strength until the user sets another. */
  strength: number;
  /** Whether it does the opposite with Ctrl. */
  inverts: boolean;
  /** Whether a stroke keeps the vertices that it began with, and moves them as the pointer moves. */
  holds: boolean;
  /** The displacements (K, 3) of the dab's vertices. */
  apply(surface: SculptSurface, dab: Dab): Float32Array;
}

export const GRAB: Brush = { name: "grab", key: "g", strength: 1, inverts: false, holds: true, apply: grab.apply };
export const SMOOTH: Brush = {
  name: "smooth",
  key: "s",
  strength: 0.5,
  inverts: false,
  holds: false,
  apply: smooth.apply,
};
export const INFLATE: Brush = {
  name: "inflate",
  key: "i",
  strength: 0.5,
  inverts: true,
  holds: false,
  apply: inflate.apply,
};
export const FLATTEN: Brush = {
  name: "flatten",
  key: "t",
  strength: 0.5,
  inverts: true,
  holds: false,
  apply: flatten.apply,
};

export const BRUSHES: readonly Brush[] = [GRAB, SMOOTH, INFLATE, FLATTEN];
