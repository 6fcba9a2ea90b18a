/** Reads what a server has sent: what is missing, or of another kind, is an error that names it. */

import type { Arrays, Data } from "./link.js";

interface Kinds {
  string: string;
  number: number;
  boolean: boolean;
}

/** A word, number or truth value. */
export function read<K extends keyof Kinds>(data: Data, name: string, kind: K): Kinds[K] {
  return checked(data[name], name, kind);
}

/** The same, where it may be null. */
export function readOrNull<K extends keyof Kinds>(data: Data, name: string, kind: K): Kinds[K] | null {
  return data[name] === null ? null : read(data, name, kind);
}

/** A list of words, or of numbers. */
export function readList<K extends keyof Kinds>(data: Data, name: string, kind: K): Kinds[K][] {
  return list(data, name).map((value) => checked(value, name, kind));
}

/** A list of objects. */
export function readObjects(data: Data, name: string): Data[] {
  return list(data, name).map((value) => {
    if (typeof value !== "object" || value === null) throw wrong(name, "objects", value);
    return value as Data;
  });
}

/** Numbers in an array. */
export function readFloats(arrays: Arrays, name: string): Float32Array {
  const values = arrays[name];
  if (!(values instanceof Float32Array)) throw wrong(name, "floats", values);
  return values;
}

/** What to show of something that went wrong: one line. */
export function lineOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function list(data: Data, name: string): unknown[] {
  const values = data[name];
  if (!Array.isArray(values)) throw wrong(name, "a list", values);
  return values;
}

function checked<K extends keyof Kinds>(value: unknown, name: string, kind: K): Kinds[K] {
  if (typeof value !== kind) throw wrong(name, `a ${kind}`, value);
  return value as Kinds[K];
}

function wrong(name: string, expected: string, value: unknown): Error {
  return new Error(`${name}: expected ${expected} from the server, got ${value === null ? "null" : typeof value}`);
}
