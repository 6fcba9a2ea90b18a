/** A plugin of three.js's GLTFLoader: meshes with `POSESPACE_drivers` drive themselves from their bones. */

import type { Group, Mesh, Object3D, SkinnedMesh } from "three";
import type { GLTF, GLTFLoaderPlugin, GLTFParser } from "three/addons/loaders/GLTFLoader.js";

import { Bounds } from "../core/bound.js";
import type { Primitive } from "../core/bound.js";
import { BoundCost } from "../core/bound_cost.js";
import { EXTENSION, numbersView, readDescription, readTargetList } from "../core/description.js";
import type { Description } from "../core/description.js";
import type { TargetData } from "../core/entries.js";
import { Fields } from "../core/fields.js";
import type { GltfJson, MeshJson } from "../core/gltf_file.js";
import { drivenMeshes, readPosed } from "../core/posed/read_posed.js";
import { readTargets } from "../core/targets.js";
import { TOP } from "../core/world.js";
import { DisplacedMeshes } from "./displaced_meshes.js";
import type { Painter } from "./displaced_meshes.js";
import { PosedLoader } from "./posed_loader.js";
import { PoseSkin } from "./pose_skin.js";
import { cleanMaterials } from "./shader_words.js";
import { SharedMesh } from "./shared_mesh.js";
import { fileOf, meshesIn, primitiveOf } from "./sources.js";
import type { MeshContent } from "./sources.js";

type Loaded = Group | Mesh | SkinnedMesh;

/** What the file says of all its meshes, read and checked. */
interface FileContent {
  description: Description;
  /** What loads the meshes if their surface is posed on the processor. */
  posed: PosedLoader | null;
}

export class PosespacePlugin implements GLTFLoaderPlugin {
  readonly name = EXTENSION;
  private readonly shared = new Map<number, SharedMesh[]>();
  /** What bounds are made of; empty once they are. */
  private primitives: Primitive[] = [];
  private readonly cost = new BoundCost();
  private counted: number | null = null;
  private content: Promise<FileContent> | null = null;
  private readonly said = new Set<string>();

  constructor(
    private readonly parser: GLTFParser,
    private readonly painter: Painter,
  ) {}

  /** Before three.js makes anything of a file. */
  async beforeRoot(): Promise<void> {
    cleanMaterials(this.parser.json.materials);
  }

  /** Load a mesh without its morph targets, which are packed or posed instead; a damaged extension leaves it as it is. */
  loadMesh(index: number): Promise<Loaded> | null {
    return this.isDriven(index) ? this.drivenMesh(index) : null;
  }

  private isDriven(index: number): boolean {
    const json = this.parser.json as GltfJson & { extensions?: Record<string, unknown> };
    if (json.meshes?.[index].extensions?.[EXTENSION] !== undefined) return true;
    // From version 2 on, a mesh without targets may have nothing to say of itself; before, if the skin has no layers.
    const file = json.extensions?.[EXTENSION] as { version?: unknown; layers?: unknown } | undefined;
    const isBare = Array.isArray(file?.layers) && !file.layers.length;
    const isSkinned = json.nodes?.some(({ mesh, skin }) => mesh === index && skin !== undefined);
    return (file?.version === 2 || isBare) && isSkinned === true;
  }

  private async drivenMesh(index: number): Promise<Loaded> {
    const parser = this.parser as GLTFParser & { loadMesh(index: number): Promise<Loaded> };
    const load = await this.prepared(index, this.parser.json.meshes[index]).catch((error: unknown) => {
      this.say(index, error instanceof Error ? error.message : String(error));
      return null;
    });
    return load ? load() : parser.loadMesh(index);
  }

  /** One error, however many meshes it concerns. */
  private say(index: number, words: string): void {
    if (this.said.has(words)) return;
    this.said.add(words);
    console.error(`posespace: the drivers of mesh ${index} are damaged, it plays as plain morph targets: ${words}`);
  }

  /** Read and check all that the file says of a mesh; return what loads it. */
  private async prepared(index: number, json: MeshJson): Promise<() => Promise<Loaded>> {
    this.content ??= this.read();
    const { description, posed } = await this.content;
    const mesh = readMesh(json, description);
    if (posed) return () => posed.load(index, json, mesh);
    const data = await this.readData(json);
    this.cost.add(description, mesh.targets, data, this.size);
    return () => this.displacedMesh(index, json, mesh, data);
  }

  private async read(): Promise<FileContent> {
    const { nodes, bufferViews, extensions } = this.parser.json as {
      nodes?: unknown[];
      bufferViews?: unknown[];
      extensions?: Record<string, unknown>;
    };
    const extension = extensions?.[EXTENSION];
    const view = numbersView(extension, bufferViews?.length ?? 0);
    const numbers = (await this.parser.getDependency("bufferView", view)) as ArrayBuffer;
    const description = readDescription(extension, numbers, nodes?.length ?? 0);
    const posed = await readPosed(extension, fileOf(this.parser), description);
    return { description, posed: posed && new PosedLoader(this.parser, posed) };
  }

  /** The targets of each primitive; those of several materials share their vertices and targets. */
  private readData({ primitives }: MeshJson): Promise<TargetData[][]> {
    const once = new Map<string, Promise<TargetData[]>>();
    return Promise.all(
      primitives.map(({ attributes, targets = [] }) => {
        const key = JSON.stringify([attributes.POSITION, targets]);
        const content = once.get(key) ?? readTargets(fileOf(this.parser), targets, attributes.POSITION);
        once.set(key, content);
        return content;
      }),
    );
  }

  private async displacedMesh(index: number, json: MeshJson, read: MeshContent, data: TargetData[][]): Promise<Loaded> {
    const parser = this.parser as GLTFParser & { loadMesh(index: number): Promise<Loaded> };
    const accessors = json.primitives.map((primitive) => primitive.targets ?? []);
    for (const primitive of json.primitives) delete primitive.targets;
    delete json.weights;
    const loaded = await parser.loadMesh(index);
    json.primitives.forEach((primitive, k) => {
      primitive.targets = accessors[k];
    });
    json.weights = read.shown;
    const shared: SharedMesh[] = [];
    for (const mesh of meshesIn(loaded)) {
      // Points and lines are primitives too, and no meshes: the order of the meshes says nothing.
      const { primitive } = primitiveOf(parser, mesh);
      const { targets, names, shown } = read;
      shared[primitive] = new SharedMesh(targets, names, shown, mesh.geometry, data[primitive]);
      const geometry = { positions: mesh.geometry.getAttribute("position"), indices: mesh.geometry.index };
      this.primitives.push({ geometry, targets, data: data[primitive] });
    }
    this.shared.set(index, shared);
    return loaded;
  }

  /** How many vertices and corners of triangles the driven meshes of the file have. */
  private get size(): number {
    return (this.counted ??= this.count());
  }

  private count(): number {
    const { accessors } = this.parser.json as { accessors: { count: number }[] };
    const numbers = drivenMeshes(this.parser.json).flatMap(({ json }) =>
      json.primitives.flatMap(({ attributes, indices }) => [attributes.POSITION, indices]),
    );
    return numbers.reduce<number>((sum, number) => sum + (accessors[number ?? -1]?.count ?? 0), 0);
  }

  /** Once bones and meshes are there, bring them together. */
  async afterRoot(result: GLTF): Promise<void> {
    result.userData.posespace = [];
    const content = await this.content?.catch(() => null);
    if (!content) return;
    const { description, posed } = content;
    const nodes = description.joints.map((joint) => this.parser.getDependency("node", joint.node));
    const bones = (await Promise.all(nodes)) as Object3D[];
    for (const scene of result.scenes) scene.userData[TOP] = true;
    const driven = posed ? await posed.finish(result, bones) : this.displaced(result, description, bones);
    if (!driven) return;
    const bounds = posed?.skin.bounds ?? new Bounds(description, this.primitives);
    this.primitives = [];
    result.userData.posespace.push(new PoseSkin(description, bounds, driven, bones));
  }

  private displaced(result: GLTF, description: Description, bones: Object3D[]): DisplacedMeshes | null {
    const driven: [Mesh, SharedMesh][] = [];
    for (const mesh of result.scenes.flatMap(meshesIn)) {
      const { index, primitive } = primitiveOf(this.parser, mesh);
      const shared = this.shared.get(index)?.[primitive];
      if (shared) driven.push([mesh, shared]);
    }
    return driven.length ? new DisplacedMeshes(description, this.painter, driven, bones) : null;
  }
}

/** Read what a file says of a mesh's targets. */
function readMesh(json: MeshJson, description: Description): MeshContent {
  const counts = json.primitives.map(({ targets }) => targets?.length ?? 0);
  const targets = readTargetList(json.extensions?.[EXTENSION] ?? {}, description, counts);
  const shown =
    json.weights === undefined
      ? targets.map(() => 0)
      : [...new Fields(json, "a mesh").numbers("weights", targets.length)];
  const names = Array.isArray(json.extras?.targetNames) ? json.extras.targetNames.map(String) : [];
  return { targets, shown, names };
}
