/** A plugin of three.js's GLTFLoader: meshes with `POSESPACE_drivers` drive themselves from their bones. */

import type { Group, Mesh, Object3D, SkinnedMesh } from "three";
import type { GLTF, GLTFLoaderPlugin, GLTFParser } from "three/addons/loaders/GLTFLoader.js";

import { EXTENSION, numbersView, readDescription } from "./description.js";
import type { Description } from "./description.js";
import { TOP } from "./features.js";
import { PoseSkin, SharedSkin } from "./pose_skin.js";
import type { Painter } from "./pose_skin.js";
import { readTargets } from "./targets.js";

type Loaded = Group | Mesh | SkinnedMesh;

interface MeshJson {
  primitives: { targets?: Record<string, number>[]; attributes: Record<string, number> }[];
  weights?: number[];
  extras?: { targetNames?: unknown };
  extensions?: Record<string, unknown>;
}

/** The plugin: `loader.register((parser) => new PosespacePlugin(parser, webgl))`. */
export class PosespacePlugin implements GLTFLoaderPlugin {
  readonly name = EXTENSION;
  private readonly shared = new Map<number, SharedSkin>();

  constructor(
    private readonly parser: GLTFParser,
    private readonly painter: Painter,
  ) {}

  /** Load a mesh without its morph targets, which are packed instead; a damaged extension leaves it as it is. */
  loadMesh(index: number): Promise<Loaded> | null {
    const json = this.parser.json.meshes[index] as MeshJson;
    if (json.extensions?.[EXTENSION] === undefined) return null;
    return this.packedMesh(index, json);
  }

  private async packedMesh(index: number, json: MeshJson): Promise<Loaded> {
    const parser = this.parser as GLTFParser & { loadMesh(index: number): Promise<Loaded> };
    const targets = json.primitives.map((primitive) => primitive.targets ?? []);
    let description: Description;
    let data: Awaited<ReturnType<typeof readTargets>>[];
    try {
      description = await this.describe(json, targets);
      data = await Promise.all(targets.map((own, k) => readTargets(parser, own, json.primitives[k].attributes.POSITION)));
    } catch (error) {
      console.error(`posespace: the drivers of mesh ${index} are damaged, it plays as plain morph targets: ${words(error)}`);
      return parser.loadMesh(index);
    }
    const { weights } = json;
    for (const primitive of json.primitives) delete primitive.targets;
    delete json.weights;
    let loaded: Loaded;
    try {
      loaded = await parser.loadMesh(index);
    } finally {
      json.primitives.forEach((primitive, k) => (primitive.targets = targets[k]));
      if (weights) json.weights = weights;
    }
    const names = Array.isArray(json.extras?.targetNames) ? json.extras.targetNames.map(String) : [];
    const shared = new SharedSkin(description, this.painter, names, weights ?? targets[0].map(() => 0));
    meshesIn(loaded).forEach((mesh, k) => shared.add(mesh.geometry, data[k]));
    this.shared.set(index, shared);
    return loaded;
  }

  private async describe(json: MeshJson, targets: Record<string, number>[][]): Promise<Description> {
    const { nodes, bufferViews } = this.parser.json as { nodes?: unknown[]; bufferViews?: unknown[] };
    const extension = json.extensions?.[EXTENSION];
    const view = numbersView(extension, bufferViews?.length ?? 0);
    const numbers = (await this.parser.getDependency("bufferView", view)) as ArrayBuffer;
    return readDescription(extension, numbers, { nodes: nodes?.length ?? 0, targets: targets[0]?.length ?? 0 });
  }

  /** Once bones and meshes are there, bring them together. */
  async afterRoot(result: GLTF): Promise<void> {
    const made: PoseSkin[] = [];
    for (const scene of result.scenes) scene.userData[TOP] = true;
    for (const [index, shared] of this.shared) {
      const { joints, above } = shared.description;
      const bones = (await Promise.all(joints.map((joint) => this.parser.getDependency("node", joint.node)))) as Object3D[];
      if (above >= 0) ((await this.parser.getDependency("node", above)) as Object3D).userData[TOP] = true;
      const meshes: Mesh[] = [];
      for (const scene of result.scenes) {
        scene.traverse((object) => {
          const from = this.parser.associations.get(object) as { meshes?: number } | undefined;
          if ((object as Mesh).isMesh && from?.meshes === index) meshes.push(object as Mesh);
        });
      }
      if (meshes.length) made.push(new PoseSkin(shared, meshes, bones));
    }
    result.userData.posespace = made;
  }
}

function meshesIn(object: Object3D): Mesh[] {
  const found: Mesh[] = [];
  object.traverse((each) => {
    if ((each as Mesh).isMesh) found.push(each as Mesh);
  });
  return found;
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
