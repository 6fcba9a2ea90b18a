/** The textures that the vertex shader reads: packed entries, shared by all copies of a skin, and weights of its own. */

import {
  ByteType,
  DataTexture,
  FloatType,
  RGBAFormat,
  RGBAIntegerFormat,
  RGFormat,
  ShortType,
} from "three";

import type { Entries, Values } from "./entries.js";

/** Texels per row; a power of two. */
export const WIDTH = 2048;

/** What a patched material reads. */
export interface Textures {
  kind: "float" | "short" | "byte";
  points: DataTexture;
  normals: DataTexture | null;
  weights: DataTexture;
}

/** Entries on the graphics card; freed when the last skin that uses them is. */
export class PackedTextures {
  readonly points: DataTexture;
  readonly normals: DataTexture | null;
  private users = 0;

  constructor(readonly entries: Entries) {
    this.points = texture(entries.points);
    this.normals = entries.normals ? texture(entries.normals) : null;
  }

  get kind(): Textures["kind"] {
    return ({ 32: "float", 16: "short", 8: "byte" } as const)[this.entries.bits];
  }

  /** Bytes of both textures. */
  get bytes(): number {
    return [this.points, this.normals].reduce((sum, each) => sum + ((each?.image.data as Values | undefined)?.byteLength ?? 0), 0);
  }

  take(): this {
    this.users++;
    return this;
  }

  release(): void {
    if (--this.users > 0) return;
    this.points.dispose();
    this.normals?.dispose();
  }
}

/** A texture of two numbers per slot: what a step of its points and of its normals weighs. */
export function weightTexture(slots: number): DataTexture {
  const rows = Math.max(1, Math.ceil(slots / WIDTH));
  const made = new DataTexture(new Float32Array(2 * WIDTH * rows), WIDTH, rows, RGFormat, FloatType);
  made.needsUpdate = true;
  return made;
}

function texture(values: Values): DataTexture {
  const rows = Math.max(1, Math.ceil(values.length / 4 / WIDTH));
  const whole = !(values instanceof Float32Array);
  const padded = new (values.constructor as new (length: number) => Values)(4 * WIDTH * rows);
  padded.set(values);
  const type = values instanceof Int8Array ? ByteType : values instanceof Int16Array ? ShortType : FloatType;
  const made = new DataTexture(padded as Float32Array<ArrayBuffer>, WIDTH, rows, whole ? RGBAIntegerFormat : RGBAFormat, type);
  if (whole) made.internalFormat = values instanceof Int8Array ? "RGBA8I" : "RGBA16I";
  made.needsUpdate = true;
  return made;
}
