/** Frames of the studio's WebSocket: JSON as text, or JSON and arrays as bytes; docs/studio-protocol.md describes them. */

import type { Arrays } from "./link.js";

const CODES = [
  ["f4", Float32Array],
  ["i4", Int32Array],
  ["u1", Uint8Array],
] as const;

export interface Message {
  fields: Record<string, unknown>;
  arrays: Arrays;
}

/** The frame of a message. */
export function encode(fields: object, arrays: Arrays = {}): string | ArrayBuffer {
  const entries = Object.entries(arrays);
  if (!entries.length) return JSON.stringify(fields);
  const listed = entries.map(([name, array]) => ({ name, dtype: codeOf(array), shape: [array.length] }));
  const header = new TextEncoder().encode(JSON.stringify({ ...fields, arrays: listed }));
  const starts: number[] = [];
  let end = aligned(4 + header.length);
  for (const [, array] of entries) {
    starts.push(end);
    end = aligned(end + array.byteLength);
  }
  const frame = new Uint8Array(end);
  new DataView(frame.buffer).setUint32(0, header.length, true);
  frame.set(header, 4);
  entries.forEach(([, array], k) => {
    frame.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), starts[k]);
  });
  return frame.buffer;
}

/** The message of a frame. */
export function decode(frame: string | ArrayBuffer): Message {
  if (typeof frame === "string") return { fields: JSON.parse(frame), arrays: {} };
  const length = new DataView(frame).getUint32(0, true);
  const fields = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, length)));
  const arrays: Arrays = {};
  let start = aligned(4 + length);
  for (const { name, dtype, shape } of fields.arrays as { name: string; dtype: string; shape: number[] }[]) {
    const count = shape.reduce((product, number) => product * number, 1);
    const [, kind] = CODES.find(([code]) => code === dtype) ?? CODES[2];
    arrays[name] = new kind(frame, start, count);
    start = aligned(start + arrays[name].byteLength);
  }
  return { fields, arrays };
}

function codeOf(array: Arrays[string]): string {
  return CODES.find(([, kind]) => array instanceof kind)?.[0] ?? "u1";
}

function aligned(count: number): number {
  return Math.ceil(count / 4) * 4;
}
