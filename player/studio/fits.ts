/** What the server says of methods and of fits. */

import type { Data } from "./link.js";
import { read, readList, readObjects, readOrNull } from "./reading.js";

/** A setting of a method. */
export interface Setting {
  name: string;
  kind: string;
  /** Whether it may be null. */
  optional: boolean;
  default: unknown;
  /** All that it takes; empty where any value of its kind may do. */
  choices: string[];
  text: string;
}

export interface Method {
  name: string;
  title: string;
  summary: string;
  settings: Setting[];
}

/** The result of a fit. */
export interface Fit {
  number: number;
  method: string;
  settings: Data;
  /** Errors relative to plain skinning: at the examples, and at those left out in turn, if that is known. */
  error: number;
  crossValidated: number | null;
  bytes: number;
  bytesPerVertex: number;
  layers: number;
  components: number;
  notes: string[];
}

export function readMethods(data: Data): Method[] {
  return readObjects(data, "methods").map((method) => ({
    name: read(method, "name", "string"),
    title: read(method, "title", "string"),
    summary: read(method, "summary", "string"),
    settings: readObjects(method, "settings").map((setting) => ({
      name: read(setting, "name", "string"),
      kind: read(setting, "kind", "string"),
      optional: read(setting, "optional", "boolean"),
      default: setting.default,
      choices: readList(setting, "choices", "string"),
      text: read(setting, "text", "string"),
    })),
  }));
}

export function readFit(data: Data): Fit {
  const { settings } = data;
  return {
    number: read(data, "number", "number"),
    method: read(data, "method", "string"),
    settings: typeof settings === "object" && settings !== null ? (settings as Data) : {},
    error: read(data, "error", "number"),
    crossValidated: readOrNull(data, "cross_validated", "number"),
    bytes: read(data, "bytes", "number"),
    bytesPerVertex: read(data, "bytes_per_vertex", "number"),
    layers: read(data, "layers", "number"),
    components: read(data, "components", "number"),
    notes: readList(data, "notes", "string"),
  };
}
