/** A plugin of three.js's GLTFLoader: meshes with `POSESPACE_drivers` drive themselves from their bones. */

import type { BufferAttribute, Group, Mesh, Object3D, SkinnedMesh } from "three";
import type { GLTF, GLTFLoaderPlugin, GLTFParser } from "three/addons/loaders/GLTFLoader.js";

import { Bounds } from "../core/bound.js";
import type { Primitive } from "../core/bound.js";
import { BoundCost } from "../core/bound_cost.js";
import { EXTENSION, numbersView, readDescription, readTargetList } from "../core/description.js";
import type { Description, Target } from "../core/description.js";
import type { TargetData } from "../core/entries.js";
import { TOP } from "../core/features.js";
import { Fields } from "../core/fields.js";
import { readTargets } from "../core/targets.js";
import type { GltfFile } from "../core/targets.js";
import { PoseSkin } from "./pose_skin.js";
import type { Painter } from "./pose_skin.js";
import { cleanMaterials } from "./shader_words.js";
import { SharedMesh } from "./shared_mesh.js";

type Loaded = Group | Mesh | SkinnedMesh;
type Extensions = Record<string, unknown> | undefined;

interface MeshJson {
  primitives: { targets?: Record<string, number>[]; attributes: Record<string, number>; indices?: number }[];
  weights?: number[];
  extras?: { targetNames?: unknown };
  extensions?: Extensions;
}

/** What the file says of a mesh, read and checked. */
interface MeshContent {
  description: Description;
  targets: Target[];
  /** The weights of the targets that the file shows. */
  shown: number[];
  /** Of each primitive. */
  data: TargetData[][];
}

export class PosespacePlugin implements GLTFLoaderPlugin {
  readonly name = EXTENSION;
  private readonly shared = new Map<number, SharedMesh[]>();
  /** What bounds are made of; empty once they are. */
  private primitives: Primitive[] = [];
  private readonly cost = new BoundCost();
  private counted: number | null = null;
  private described: Promise<Description> | null = null;

  constructor(
    private readonly parser: GLTFParser,
    private readonly painter: Painter,
  ) {}

  /** Before three.js makes anything of a file. */
  async beforeRoot(): Promise<void> {
    cleanMaterials(this.parser.json.materials);
  }

  /** Load a mesh without its morph targets, which are packed instead; a damaged extension leaves it as it is. */
  loadMesh(index: number): Promise<Loaded> | null {
    const json = this.parser.json.meshes[index] as MeshJson;
    return json.extensions?.[EXTENSION] === undefined ? null : this.packedMesh(index, json);
  }

  private async packedMesh(index: number, json: MeshJson): Promise<Loaded> {
    const parser = this.parser as GLTFParser & { loadMesh(index: number): Promise<Loaded> };
    const targets = json.primitives.map((primitive) => primitive.targets ?? []);
    const read = await this.read(json, targets).catch((error: unknown) => {
      const words = error instanceof Error ? error.message : String(error);
      console.error(`posespace: the drivers of mesh ${index} are damaged, it plays as plain morph targets: ${words}`);
      return null;
    });
    if (!read) return parser.loadMesh(index);
    for (const primitive of json.primitives) delete primitive.targets;
    delete json.weights;
    const loaded = await parser.loadMesh(index);
    json.primitives.forEach((primitive, k) => {
      primitive.targets = targets[k];
    });
    json.weights = read.shown;
    const names = Array.isArray(json.extras?.targetNames) ? json.extras.targetNames.map(String) : [];
    const shared: SharedMesh[] = [];
    for (const mesh of meshesIn(loaded)) {
      // Points and lines are primitives too, and no meshes: the order of the meshes says nothing.
      const { primitive } = this.sourceOf(mesh);
      const [targets, data] = [read.targets, read.data[primitive]];
      shared[primitive] = new SharedMesh(targets, names, read.shown, mesh.geometry, data);
      const geometry = { positions: mesh.geometry.getAttribute("position"), indices: mesh.geometry.index };
      this.primitives.push({ geometry, targets, data });
    }
    this.shared.set(index, shared);
    return loaded;
  }

  private async read(json: MeshJson, targets: Record<string, number>[][]): Promise<MeshContent> {
    this.described ??= this.describe();
    const description = await this.described;
    const counts = targets.map(({ length }) => length);
    const list = readTargetList(json.extensions?.[EXTENSION], description, counts);
    const shown =
      json.weights === undefined ? list.map(() => 0) : [...new Fields(json, "a mesh").numbers("weights", list.length)];
    // Primitives of several materials share their vertices and targets.
    const once = new Map<string, Promise<TargetData[]>>();
    const data = await Promise.all(
      targets.map((accessors, k) => {
        const points = json.primitives[k].attributes.POSITION;
        const key = JSON.stringify([points, accessors]);
        const content = once.get(key) ?? readTargets(fileOf(this.parser), accessors, points);
        once.set(key, content);
        return content;
      }),
    );
    this.cost.add(description, list, data, this.size);
    return { description, targets: list, shown, data };
  }

  /** How many vertices and corners of triangles the driven meshes of the file have. */
  private get size(): number {
    return (this.counted ??= this.count());
  }

  private count(): number {
    const { meshes, accessors } = this.parser.json as { meshes: MeshJson[]; accessors: { count: number }[] };
    const driven = meshes.filter((mesh) => mesh.extensions?.[EXTENSION] !== undefined);
    const numbers = driven.flatMap((mesh) =>
      mesh.primitives.flatMap(({ attributes, indices }) => [attributes.POSITION, indices]),
    );
    return numbers.reduce<number>((sum, number) => sum + (accessors[number ?? -1]?.count ?? 0), 0);
  }

  private async describe(): Promise<Description> {
    const { nodes, bufferViews, extensions } = this.parser.json as {
      nodes?: unknown[];
      bufferViews?: unknown[];
      extensions?: Extensions;
    };
    const extension = extensions?.[EXTENSION];
    const view = numbersView(extension, bufferViews?.length ?? 0);
    const numbers = (await this.parser.getDependency("bufferView", view)) as ArrayBuffer;
    return readDescription(extension, numbers, nodes?.length ?? 0);
  }

  /** Once bones and meshes are there, bring them together. */
  async afterRoot(result: GLTF): Promise<void> {
    result.userData.posespace = [];
    if (!this.shared.size || !this.described) return;
    const description = await this.described;
    const nodes = description.joints.map((joint) => this.parser.getDependency("node", joint.node));
    const bones = (await Promise.all(nodes)) as Object3D[];
    for (const scene of result.scenes) scene.userData[TOP] = true;
    const driven: [Mesh, SharedMesh][] = [];
    for (const mesh of result.scenes.flatMap(meshesIn)) {
      const { index, primitive } = this.sourceOf(mesh);
      const shared = this.shared.get(index)?.[primitive];
      if (shared) driven.push([mesh, shared]);
    }
    const bounds = new Bounds(description, this.primitives);
    this.primitives = [];
    if (driven.length) result.userData.posespace.push(new PoseSkin(description, bounds, this.painter, driven, bones));
  }

  /** The mesh and the primitive of the file that a loaded mesh was made of. */
  private sourceOf(mesh: Mesh): { index: number; primitive: number } {
    const from = this.parser.associations.get(mesh) as { meshes?: number; primitives?: number } | undefined;
    return { index: from?.meshes ?? -1, primitive: from?.primitives ?? 0 };
  }
}

/** A file as three.js's loader reads it. */
function fileOf(parser: GLTFParser): GltfFile {
  return {
    json: parser.json,
    bufferView: (index) => parser.getDependency("bufferView", index) as Promise<ArrayBuffer>,
    accessor: (index) => parser.getDependency("accessor", index) as Promise<BufferAttribute>,
  };
}

function meshesIn(object: Object3D): Mesh[] {
  const meshes: Mesh[] = [];
  object.traverse((child) => {
    if ((child as Mesh).isMesh) meshes.push(child as Mesh);
  });
  return meshes;
}
