/**
 * Radial functions. A kernel is one entry here, by its name in files: what it gives for a squared distance over the
 * radius. The other two places are `interpolate/kernels.py` and `runtime/drive/` of the library.
 */

export const KERNELS = {
  gaussian: (square: number) => Math.exp(-0.5 * square),
  exponential: (square: number) => Math.exp(-Math.sqrt(square)),
  multiquadric: (square: number) => Math.sqrt(1 + square),
  thin_plate: (square: number) => (square > 0 ? 0.5 * square * Math.log(square) : 0),
  linear: (square: number) => Math.sqrt(square),
  cubic: (square: number) => square * Math.sqrt(square),
} as const;

export type KernelName = keyof typeof KERNELS;

export const KERNEL_NAMES = Object.keys(KERNELS) as KernelName[];
