/** For tests: plays a skin by `core` alone, without three.js: a GLB file and poses in, coordinates and displacements out. */

import { Bounds } from "../core/bound.js";
import { EXTENSION, numbersView, readDescription, readTargetList } from "../core/description.js";
import { Drive } from "../core/drive.js";
import { displace, pack, slotsOf, weigh } from "../core/entries.js";
import { Skeleton, TOP } from "../core/features.js";
import type { SceneNode } from "../core/features.js";
import { readTargets } from "../core/targets.js";
import type { GltfFile } from "../core/targets.js";
import type { Vectors } from "../core/vectors.js";
import type { PoseJson } from "./poses.js";

interface NodeJson {
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
}

interface GltfJson {
  nodes: NodeJson[];
  meshes: {
    primitives: { attributes: { POSITION: number }; indices: number; targets: Record<string, number>[] }[];
    extensions: Record<string, unknown>;
  }[];
  accessors: Accessor[];
  bufferViews: { byteOffset?: number; byteLength: number }[];
  extensions: Record<string, unknown>;
}

const INDEX_TYPES: Record<number, typeof Uint8Array | typeof Uint16Array | typeof Uint32Array> = {
  5121: Uint8Array,
  5123: Uint16Array,
  5125: Uint32Array,
};

/** A GLB file of which only its JSON and its buffer are read. */
class Glb implements GltfFile {
  readonly json: GltfJson;
  private readonly buffer: ArrayBuffer;

  constructor(file: ArrayBuffer) {
    const length = new DataView(file).getUint32(12, true);
    this.json = JSON.parse(new TextDecoder().decode(file.slice(20, 20 + length))) as GltfJson;
    this.buffer = file.slice(28 + length);
  }

  view(index: number): ArrayBuffer {
    const { byteOffset = 0, byteLength } = this.json.bufferViews[index];
    return this.buffer.slice(byteOffset, byteOffset + byteLength);
  }

  bufferView(index: number): Promise<ArrayBuffer> {
    return Promise.resolve(this.view(index));
  }

  accessor(index: number): Promise<Vectors> {
    return Promise.resolve(this.vectors(index));
  }

  /** The vectors of an accessor that is not sparse. */
  vectors(index: number): Vectors {
    const { bufferView, byteOffset = 0, componentType, count } = this.json.accessors[index];
    if (componentType !== 5126) throw new Error(`accessor ${index}: expected 32-bit floats`);
    // Without a buffer view all numbers are zero.
    const buffer = bufferView === undefined ? new ArrayBuffer(12 * count) : this.view(bufferView);
    const values = new Float32Array(buffer, byteOffset, 3 * count);
    return {
      count,
      getX: (k) => values[3 * k],
      getY: (k) => values[3 * k + 1],
      getZ: (k) => values[3 * k + 2],
    };
  }

  indices(index: number) {
    const { bufferView = 0, byteOffset = 0, componentType, count } = this.json.accessors[index];
    const values = new INDEX_TYPES[componentType](this.view(bufferView), byteOffset, count);
    return { count, getX: (k: number) => values[k] };
  }
}

/** Coordinates of all drivers, and displacements of all vertices of the first mesh, at each pose. */
export async function play(file: ArrayBuffer, poses: PoseJson[]) {
  const glb = new Glb(file);
  const { nodes, meshes, bufferViews, extensions } = glb.json;
  const view = numbersView(extensions[EXTENSION], bufferViews.length);
  const description = readDescription(extensions[EXTENSION], glb.view(view), nodes.length);
  const [mesh] = meshes;
  const [{ attributes, indices, targets: accessors }] = mesh.primitives;
  const targets = readTargetList(mesh.extensions[EXTENSION], description, [accessors.length]);
  const data = await readTargets(glb, accessors, attributes.POSITION);
  const positions = glb.vectors(attributes.POSITION);
  const bounds = new Bounds(description, [{ geometry: { positions, indices: glb.indices(indices) }, targets, data }]);
  const sceneNodes = nodesOf(nodes);
  const bones = description.joints.map(({ node }) => sceneNodes[node]);
  const rests = bones.map(({ position }) => ({ ...position }));
  const skeleton = new Skeleton(description, bones);
  const drive = new Drive(description);
  const slots = slotsOf(targets);
  const entries = pack(targets, slots, data, positions.count);
  const weights = new Float32Array(2 * slots.count);
  return poses.map(({ joints, controls }) => {
    bones.forEach((bone, k) => {
      const [x, y, z, w] = joints.slice(4 * k, 4 * k + 4);
      const [dx, dy, dz] = joints.slice(4 * bones.length + 3 * k, 4 * bones.length + 3 * k + 3);
      bone.quaternion = { x, y, z, w };
      bone.position = { x: rests[k].x + dx, y: rests[k].y + dy, z: rests[k].z + dz };
    });
    description.controls.forEach((name, k) => {
      skeleton.features.controls[k] = controls[name] ?? 0;
    });
    skeleton.update();
    drive.update(skeleton.features);
    bounds.keep(drive.coordinates);
    weigh(slots, (target) => drive.coordinates[targets[target].coordinate] ?? 0, weights);
    const displacements = Array.from({ length: positions.count }, (_, vertex) => {
      const offset = new Float64Array(3);
      displace(entries, vertex, weights, offset);
      return [...offset];
    });
    return { coordinates: [...drive.coordinates], displacements };
  });
}

function nodesOf(nodes: NodeJson[]): SceneNode[] {
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
