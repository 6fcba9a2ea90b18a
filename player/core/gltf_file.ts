/** A glTF file whose parts are read on demand: three.js's loader is one, and so is a test's plain reader. */

import type { Table, Vectors } from "./vectors.js";

/** A primitive of a mesh, as its JSON has it. */
export interface PrimitiveJson {
  attributes: Record<string, number>;
  indices?: number;
  mode?: number;
  targets?: Record<string, number>[];
}

export interface MeshJson {
  primitives: PrimitiveJson[];
  weights?: number[];
  extras?: { targetNames?: unknown };
  extensions?: Record<string, unknown>;
}

export interface GltfJson {
  accessors: unknown[];
  bufferViews: unknown[];
  meshes?: MeshJson[];
  nodes?: { mesh?: number; skin?: number }[];
  skins?: unknown[];
}

export interface GltfFile {
  readonly json: GltfJson;
  bufferView(index: number): Promise<ArrayBuffer>;
  /** The numbers of an accessor, sparse ones filled in. */
  accessor(index: number): Promise<Vectors & Table>;
}
