/** One touch of a brush, and where it is felt. */

/** Where a brush is felt. */
export interface Felt {
  /** The first vertices of the weld groups within the radius (K,). */
  vertices: Uint32Array;
  /** How much of the brush each of them feels (K,), 0 to 1. */
  falloff: Float32Array;
}

export interface Dab extends Felt {
  /** Of the brush, in metres. */
  radius: number;
  /** 0 to 1, the pen's pressure included; negative: the brush does the opposite. */
  strength: number;
  /** How far the pointer has moved since the dab before (3,), in metres. */
  motion: readonly number[];
}
