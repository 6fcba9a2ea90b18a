/** Loads the meshes of a file whose surface is posed on the processor, and puts them where they are posed. */

import type { Group, Mesh, Object3D } from "three";
import type { GLTF, GLTFParser } from "three/addons/loaders/GLTFLoader.js";

import type { MeshJson } from "../core/gltf_file.js";
import { fineSets } from "../core/posed/fine_set.js";
import type { FineSet } from "../core/posed/fine_set.js";
import type { PosedSkin } from "../core/posed/posed_skin.js";
import { TOP } from "../core/world.js";
import { StaticGeometry } from "./posed_geometry.js";
import { PosedMeshes } from "./posed_meshes.js";
import type { PosedPrimitive } from "./posed_meshes.js";
import { meshesIn, primitiveOf } from "./sources.js";
import type { MeshContent } from "./sources.js";

type Loaded = Group | Mesh;

/** Attributes of vertices that a posed mesh has no use for. */
const UNUSED = /^(JOINTS|WEIGHTS|TANGENT)/;

export class PosedLoader {
  private readonly sets: FineSet[];
  /** By the number of a mesh in the file, its primitives. */
  private readonly primitives = new Map<number, PosedPrimitive[]>();

  constructor(
    private readonly parser: GLTFParser,
    readonly skin: PosedSkin,
  ) {
    this.sets = fineSets(skin.mesh.sets, skin.detail?.levels ?? []);
  }

  /** Load a mesh without what moves it. */
  async load(index: number, json: MeshJson, content: MeshContent): Promise<Loaded> {
    const parser = this.parser as GLTFParser & { loadMesh(index: number): Promise<Loaded> };
    const whole = { ...json };
    const bare = json.primitives.map(({ targets: _, attributes, ...primitive }) => {
      return { ...primitive, attributes: withoutUnused(attributes) };
    });
    Object.assign(json, { primitives: bare, isSkinnedMesh: false });
    delete json.weights;
    // What a node says of weights goes to morph targets that are not there.
    for (const node of parser.json.nodes) if (node.mesh === index) delete node.weights;
    const loaded = await parser.loadMesh(index);
    Object.assign(json, whole);
    const made: PosedPrimitive[] = [];
    for (const mesh of meshesIn(loaded)) {
      const { primitive } = primitiveOf(parser, mesh);
      const geometry = this.geometryOf(mesh, index, primitive);
      if (geometry) made[primitive] = { source: index, content, geometry };
    }
    this.primitives.set(index, made);
    return loaded;
  }

  private geometryOf(mesh: Mesh, index: number, number: number): StaticGeometry | null {
    for (const [set, fine] of this.sets.entries()) {
      const range = fine.primitives.find(({ mesh, primitive }) => mesh === index && primitive === number);
      if (range) return new StaticGeometry(mesh.geometry, set, fine, range.first, range.count);
    }
    return null;
  }

  /** Once all is loaded, put the meshes below the scene and drop the bones that only other viewers need. */
  async finish(result: GLTF, bones: Object3D[]): Promise<PosedMeshes | null> {
    const unused = await this.unusedNodes(bones);
    const pairs: [Mesh, PosedPrimitive][] = [];
    const top = topOf(bones[0]);
    for (const mesh of result.scenes.flatMap(meshesIn)) {
      const { index, primitive } = primitiveOf(this.parser, mesh);
      const made = this.primitives.get(index)?.[primitive];
      if (!made) continue;
      pairs.push([mesh, made]);
      putBelow(top, mesh);
    }
    dropTracks(result, new Set([...unused, ...pairs.map(([mesh]) => mesh)]));
    for (const node of unused) if (!node.children.length) node.removeFromParent();
    return pairs.length ? new PosedMeshes(this.skin, this.sets, pairs, bones) : null;
  }

  /** The nodes that move the mesh in viewers that know no drivers. */
  private async unusedNodes(bones: Object3D[]): Promise<Object3D[]> {
    const skins = (this.parser.json.skins ?? []) as { joints: number[] }[];
    const nodes = skins.flatMap(({ joints }) => joints.map((node) => this.parser.getDependency("node", node)));
    const used = new Set(bones);
    return ((await Promise.all(nodes)) as Object3D[]).filter((node) => !used.has(node));
  }
}

function withoutUnused(attributes: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !UNUSED.test(name)));
}

/** What is above all nodes of the file. */
function topOf(node: Object3D): Object3D {
  let top = node;
  while (top.parent && !top.userData[TOP]) top = top.parent;
  return top;
}

/** Put a mesh into the space of a scene: like a skinned one, it does not follow its own node. */
function putBelow(top: Object3D, mesh: Mesh): void {
  for (const child of [...mesh.children]) mesh.parent?.attach(child);
  top.add(mesh);
  mesh.position.set(0, 0, 0);
  mesh.quaternion.set(0, 0, 0, 1);
  mesh.scale.set(1, 1, 1);
}

/** Clips have tracks of nodes that only other viewers need. */
function dropTracks({ animations }: GLTF, nodes: Set<Object3D>): void {
  const names = new Set([...nodes].map(({ name, uuid }) => name || uuid));
  for (const clip of animations) {
    clip.tracks = clip.tracks.filter(({ name }) => !names.has(name.slice(0, name.lastIndexOf("."))));
  }
}
