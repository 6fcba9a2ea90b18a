/** For tests: a GLB file, read without three.js, and nodes as plain objects. */

import type { GltfFile, GltfJson } from "../core/gltf_file.js";
import type { Table, Vectors } from "../core/vectors.js";
import { TOP } from "../core/world.js";
import type { SceneNode } from "../core/world.js";

export interface NodeJson {
  mesh?: number;
  skin?: number;
  translation?: number[];
  rotation?: number[];
  scale?: number[];
  children?: number[];
}

interface Accessor {
  bufferView?: number;
  byteOffset?: number;
  componentType: number;
  count: number;
  type: string;
  normalized?: boolean;
}

interface GlbJson extends GltfJson {
  nodes: NodeJson[];
  accessors: Accessor[];
  bufferViews: { byteOffset?: number; byteLength: number }[];
  extensions: Record<string, unknown>;
}

const TYPES = {
  5120: Int8Array,
  5121: Uint8Array,
  5122: Int16Array,
  5123: Uint16Array,
  5125: Uint32Array,
  5126: Float32Array,
} as const;
const LARGEST: Record<number, number> = { 5120: 127, 5121: 255, 5122: 32767, 5123: 65535 };
const WIDTHS: Record<string, number> = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };

/** Of its accessors those that are not sparse are read. */
export class Glb implements GltfFile {
  readonly json: GlbJson;
  private readonly buffer: ArrayBuffer;

  constructor(file: ArrayBuffer) {
    const length = new DataView(file).getUint32(12, true);
    this.json = JSON.parse(new TextDecoder().decode(file.slice(20, 20 + length))) as GlbJson;
    this.buffer = file.slice(28 + length);
  }

  view(index: number): ArrayBuffer {
    const { byteOffset = 0, byteLength } = this.json.bufferViews[index];
    return this.buffer.slice(byteOffset, byteOffset + byteLength);
  }

  bufferView(index: number): Promise<ArrayBuffer> {
    return Promise.resolve(this.view(index));
  }

  accessor(index: number): Promise<Vectors & Table> {
    return Promise.resolve(this.table(index));
  }

  table(index: number): Vectors & Table {
    const { bufferView, byteOffset = 0, componentType, count, type, normalized } = this.json.accessors[index];
    const itemSize = WIDTHS[type];
    const kind = TYPES[componentType as keyof typeof TYPES];
    // Without a buffer view all numbers are zero.
    const buffer = bufferView === undefined ? new ArrayBuffer(4 * itemSize * count) : this.view(bufferView);
    const values = new kind(buffer, byteOffset, itemSize * count);
    const unit = normalized ? LARGEST[componentType] : 1;
    const getComponent = (k: number, component: number) => values[itemSize * k + component] / unit;
    return {
      count,
      itemSize,
      getComponent,
      getX: (k) => getComponent(k, 0),
      getY: (k) => getComponent(k, 1),
      getZ: (k) => getComponent(k, 2),
    };
  }
}

export function nodesOf(nodes: NodeJson[]): SceneNode[] {
  const top = { ...sceneNode({}), userData: { [TOP]: true } };
  const made = nodes.map(sceneNode);
  for (const node of made) node.parent = top;
  nodes.forEach(({ children = [] }, k) => {
    for (const child of children) made[child].parent = made[k];
  });
  return made;
}

function sceneNode({ translation = [0, 0, 0], rotation = [0, 0, 0, 1], scale = [1, 1, 1] }: NodeJson): SceneNode {
  const [x, y, z, w] = rotation;
  return {
    position: vector(translation),
    quaternion: { x, y, z, w },
    scale: vector(scale),
    parent: null,
    userData: {},
  };
}

function vector([x, y, z]: number[]) {
  return { x, y, z };
}
