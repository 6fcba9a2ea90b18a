/** The textures that the vertex shader reads: packed entries, shared by all copies of a skin, and weights of its own. */

import {
  DataTexture,
  FloatType,
  RedIntegerFormat,
  RGBAFormat,
  RGBAIntegerFormat,
  RGFormat,
  RGIntegerFormat,
  UnsignedIntType,
} from "three";
import type { PixelFormat } from "three";

import type { Entries } from "../core/entries.js";

/** Texels per row; a power of two. */
export const WIDTH = 2048;

/** What a patched material reads. */
export interface Textures {
  bits: Entries["bits"];
  /** Whether entries correct normals. */
  normals: boolean;
  entries: DataTexture;
  /** How many slots have weights. */
  slots: number;
  weights: DataTexture;
}

/** Whole numbers are read by words of 32 bits: one, two or four of them make a texel, which is an entry. */
const WHOLE: Record<number, PixelFormat> = { 1: RedIntegerFormat, 2: RGIntegerFormat, 4: RGBAIntegerFormat };

/** Entries on the graphics card; freed when the last skin that uses them is. */
export class PackedTexture {
  readonly texture: DataTexture;
  private users = 0;

  constructor(readonly entries: Entries) {
    this.texture = textureOf(entries);
  }

  get bytes(): number {
    return (this.texture.image.data as Float32Array | Uint32Array).byteLength;
  }

  take(): this {
    this.users++;
    return this;
  }

  release(): void {
    if (--this.users === 0) this.texture.dispose();
  }
}

/** A texture of two numbers per slot: what a step of its points and of its normals weighs. */
export function weightTexture(slots: number): DataTexture {
  const rows = Math.max(1, Math.ceil(slots / WIDTH));
  const texture = new DataTexture(new Float32Array(2 * WIDTH * rows), WIDTH, rows, RGFormat, FloatType);
  texture.needsUpdate = true;
  return texture;
}

/** Entries as texels: one each if their numbers are whole; else one of points and, where there are any, one of normals. */
function textureOf({ values, stride, bits }: Entries): DataTexture {
  const words = bits === 32 ? 4 : (stride * bits) / 32;
  const rows = Math.max(1, Math.ceil(values.byteLength / 4 / words / WIDTH));
  const padded = new Uint8Array(4 * words * WIDTH * rows);
  padded.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  const texture =
    bits === 32
      ? new DataTexture(new Float32Array(padded.buffer), WIDTH, rows, RGBAFormat, FloatType)
      : new DataTexture(new Uint32Array(padded.buffer), WIDTH, rows, WHOLE[words], UnsignedIntType);
  texture.needsUpdate = true;
  return texture;
}
