/** Which meshes and primitives of a file the objects of a loaded scene are. */

import type { BufferAttribute, Mesh, Object3D } from "three";
import type { GLTFParser } from "three/addons/loaders/GLTFLoader.js";

import type { Target } from "../core/description.js";
import type { GltfFile } from "../core/gltf_file.js";

/** What the file says of a mesh, read and checked. */
export interface MeshContent {
  targets: Target[];
  /** The weights of the targets that the file shows. */
  shown: number[];
  names: string[];
}

/** A file as three.js's loader reads it. */
export function fileOf(parser: GLTFParser): GltfFile {
  return {
    json: parser.json,
    bufferView: (index) => parser.getDependency("bufferView", index) as Promise<ArrayBuffer>,
    accessor: (index) => parser.getDependency("accessor", index) as Promise<BufferAttribute>,
  };
}

/** The mesh and the primitive of the file that a loaded mesh was made of. */
export function primitiveOf(parser: GLTFParser, mesh: Mesh): { index: number; primitive: number } {
  const from = parser.associations.get(mesh) as { meshes?: number; primitives?: number } | undefined;
  return { index: from?.meshes ?? -1, primitive: from?.primitives ?? 0 };
}

export function meshesIn(object: Object3D): Mesh[] {
  const meshes: Mesh[] = [];
  object.traverse((child) => {
    if ((child as Mesh).isMesh) meshes.push(child as Mesh);
  });
  return meshes;
}
