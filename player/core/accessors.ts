/** Accessors that an extension names, read with checks: their size, their type, their range, and that all is in the file. */

import { Fields } from "./fields.js";
import type { GltfFile } from "./gltf_file.js";

/** Largest number in a shape or a model. */
const LARGEST = 1e10;

const FLOAT = { 5126: Float32Array } as const;
const WHOLE = { 5121: Uint8Array, 5123: Uint16Array, 5125: Uint32Array } as const;
const PACKED = { 32: { 5126: Float32Array }, 16: { 5122: Int16Array }, 8: { 5120: Int8Array } } as const;

/** Numbers as a file packs them. */
export type Packed = Float32Array | Int16Array | Int8Array;

type NumberTypes = Record<
  number,
  { new (buffer: ArrayBuffer): ArrayLike<number> & Iterable<number>; BYTES_PER_ELEMENT: number }
>;

export class Accessors {
  constructor(private readonly file: GltfFile) {}

  /** How many numbers an accessor says that it has. */
  count(fields: Fields, name: string): number {
    return this.describe(fields, name).whole("count", 0, 2 ** 31);
  }

  /** Floats of ordinary size: `count` of them, or, where that is null, some multiple of `unit` but not none. */
  async floats(fields: Fields, name: string, count: number | null, unit = 1): Promise<Float32Array> {
    const values = (await this.read(fields, name, FLOAT, count, unit)) as Float32Array;
    if (!values.every(isOrdinary)) throw new Error(`${fields.where}: ${name}: expected numbers of ordinary size`);
    return values;
  }

  /** Whole numbers from 0 to `below` - 1, as many as `floats` says. */
  async wholes(fields: Fields, name: string, count: number | null, below: number, unit = 1): Promise<Uint32Array> {
    const values = Uint32Array.from(await this.read(fields, name, WHOLE, count, unit));
    if (values.some((value) => value >= below)) {
      throw new Error(`${fields.where}: ${name}: expected whole numbers below ${below}`);
    }
    return values;
  }

  /** Rows of `unit` numbers in 32, 16 or 8 bits, and what one unit of each row is. */
  async packed(fields: Fields, name: string, unit: number): Promise<{ values: Packed; scales: Float64Array }> {
    const bits = fields.choice("bits", [32, 16, 8] as const);
    if (bits === 32) {
      const values = await this.floats(fields, name, null, unit);
      return { values, scales: new Float64Array(values.length / unit).fill(1) };
    }
    const values = (await this.read(fields, name, PACKED[bits], null, unit)) as Packed;
    return { values, scales: Float64Array.from(await this.floats(fields, "scales", values.length / unit)) };
  }

  private describe(fields: Fields, name: string): Fields {
    const { accessors } = this.file.json;
    return new Fields(accessors[fields.whole(name, 0, accessors.length - 1)], `${fields.where}: ${name}`);
  }

  private async read(
    fields: Fields,
    name: string,
    types: NumberTypes,
    count: number | null,
    unit: number,
  ): Promise<ArrayLike<number> & Iterable<number>> {
    const { json } = this.file;
    const accessor = this.describe(fields, name);
    if (accessor.text("type") !== "SCALAR" || accessor.has("sparse")) {
      throw new Error(`${accessor.where}: expected plain numbers`);
    }
    const type = types[accessor.choice("componentType", Object.keys(types).map(Number))];
    const total = accessor.whole("count", count ?? unit, count ?? 2 ** 31);
    if (total % unit) throw new Error(`${accessor.where}: expected a multiple of ${unit} numbers, got ${total}`);
    const view = accessor.whole("bufferView", 0, json.bufferViews.length - 1);
    const start = accessor.has("byteOffset") ? accessor.whole("byteOffset", 0, 2 ** 40) : 0;
    const end = start + total * type.BYTES_PER_ELEMENT;
    const buffer = await this.file.bufferView(view);
    if (end > buffer.byteLength) throw new Error(`${accessor.where}: expected ${total} numbers within its buffer view`);
    return new type(buffer.slice(start, end));
  }
}

/** Whether a number is one of a shape or a model, and no infinity or none at all. */
export function isOrdinary(value: number): boolean {
  return Math.abs(value) <= LARGEST;
}
