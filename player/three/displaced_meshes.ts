/** Meshes whose vertices the vertex shader displaces, before it moves them by their bones. */

import type { DataTexture, Material, Mesh, Object3D, SkinnedMesh, Vector3 } from "three";

import type { Description } from "../core/description.js";
import { displace, displacementsByLayer, weigh } from "../core/entries.js";
import { Skeleton } from "../core/features.js";
import type { Features } from "../core/features.js";
import type { ControlPoint, DrivenMesh, DrivenMeshes, VertexReading } from "./driven_meshes.js";
import type { SharedMesh } from "./shared_mesh.js";
import { weightTexture } from "./textures.js";
import type { Textures } from "./textures.js";

/** How a renderer draws displaced materials: by WebGL's shaders, or by nodes. */
export interface Painter {
  material(material: Material, textures: Textures): Material;
  shadows(textures: Textures): { depth: Material; distance: Material } | null;
}

interface Part extends DrivenMesh {
  shared: SharedMesh;
  weights: DataTexture;
  /** The material that the mesh was given, and the copies of it that displace. */
  givenMaterial: Material | Material[];
  copies: Material[];
}

export class DisplacedMeshes implements DrivenMeshes {
  readonly parts: Part[];
  readonly points: ControlPoint[] = [];
  readonly hasCorrections = false;
  readonly hasDetail = false;
  readonly beta = null;
  private readonly skeleton: Skeleton;

  constructor(
    private readonly description: Description,
    private readonly painter: Painter,
    meshes: [Mesh, SharedMesh][],
    bones: Object3D[],
  ) {
    this.skeleton = new Skeleton(description, bones);
    this.parts = meshes.map(([mesh, shared]) => this.attach(mesh, shared));
  }

  get features(): Features {
    return this.skeleton.features;
  }

  get bytes(): number {
    return this.parts.reduce((sum, { shared, weights }) => sum + shared.packed.bytes + numbers(weights).byteLength, 0);
  }

  spread(values: Float64Array): Float64Array[] {
    // The meshes have the skin's vertices one after the other.
    let start = 0;
    return this.parts.map(({ mesh }) => {
      const { count } = mesh.geometry.getAttribute("position");
      start += count;
      return values.slice(start - count, start);
    });
  }

  readVertex(mesh: Mesh, index: number): VertexReading {
    const number = this.parts.findIndex((part) => part.mesh === mesh);
    const { shared, targets, weights } = this.parts[number];
    const before = this.parts.slice(0, number);
    const first = before.reduce((sum, part) => sum + part.mesh.geometry.getAttribute("position").count, 0);
    const sums = displacementsByLayer(shared.packed.entries, index, numbers(weights), shared.slots, targets);
    const metres = this.description.grid;
    const layers = new Map([...sums].map(([layer, sum]) => [layer, metres * Math.hypot(...sum)]));
    return { vertex: first + index, bones: bonesOf(mesh as SkinnedMesh, index), layers, corrections: 0 };
  }

  follow(): void {
    this.skeleton.update();
  }

  show(_: Float64Array, value: (part: DrivenMesh, target: number) => number): void {
    for (const part of this.parts) {
      weigh(part.shared.slots, (target) => value(part, target), numbers(part.weights));
      part.weights.needsUpdate = true;
    }
  }

  on(meshes: Mesh[], bones: Object3D[]): DisplacedMeshes {
    meshes.forEach((mesh, k) => {
      mesh.material = this.parts[k].givenMaterial;
    });
    const pairs = this.parts.map(({ shared }, k): [Mesh, SharedMesh] => [meshes[k], shared]);
    return new DisplacedMeshes(this.description, this.painter, pairs, bones);
  }

  dispose(): void {
    for (const { mesh, copies, shared, weights } of this.parts) {
      for (const material of copies) material.dispose();
      mesh.customDepthMaterial?.dispose();
      mesh.customDistanceMaterial?.dispose();
      shared.packed.release();
      weights.dispose();
    }
  }

  private attach(mesh: Mesh, shared: SharedMesh): Part {
    const weights = weightTexture(shared.slots.count);
    const { texture, entries } = shared.packed.take();
    const textures = {
      bits: entries.bits,
      normals: entries.stride === 8,
      entries: texture,
      slots: shared.slots.count,
      weights,
    };
    const { targets } = shared;
    const part: Part = { mesh, targets, shared, weights, givenMaterial: mesh.material, copies: [] };
    mesh.morphTargetInfluences = [...shared.shown];
    mesh.morphTargetDictionary = Object.fromEntries(shared.names.map((name, k) => [name, k]));
    copyMaterials(part, (material) => this.painter.material(material, textures));
    const shadows = this.painter.shadows(textures);
    if (shadows) {
      mesh.customDepthMaterial = shadows.depth;
      mesh.customDistanceMaterial = shadows.distance;
    }
    readVertices(part);
    return part;
  }
}
/** Whatever material a mesh is given, it has a copy that displaces. */
function copyMaterials(part: Part, displacing: (material: Material) => Material): void {
  const copied = (material: Material | Material[]): Material | Material[] => {
    for (const copy of part.copies) copy.dispose();
    const copies = Array.isArray(material) ? material.map(displacing) : displacing(material);
    part.givenMaterial = material;
    part.copies = [copies].flat();
    return copies;
  };
  let current = copied(part.mesh.material);
  Object.defineProperty(part.mesh, "material", {
    configurable: true,
    enumerable: true,
    get: () => current,
    set: (material: Material | Material[]) => {
      current = copied(material);
    },
  });
}

const offset = new Float64Array(3);

/** Raycasting and bounds read vertices one by one: they see them displaced too. */
function readVertices({ mesh, shared, weights }: Part): void {
  const skinned = mesh as SkinnedMesh;
  mesh.getVertexPosition = (index: number, target: Vector3) => {
    target.fromBufferAttribute(mesh.geometry.getAttribute("position"), index);
    offset.fill(0);
    displace(shared.packed.entries, index, numbers(weights), offset);
    target.set(target.x + offset[0], target.y + offset[1], target.z + offset[2]);
    if (skinned.isSkinnedMesh) skinned.applyBoneTransform(index, target);
    return target;
  };
}

/** The bones of a vertex and their weights, as the file has them. */
function bonesOf({ geometry, skeleton }: SkinnedMesh, index: number): VertexReading["bones"] {
  const [bones, weights] = [geometry.getAttribute("skinIndex"), geometry.getAttribute("skinWeight")];
  if (!skeleton || !bones || !weights) return [];
  const all = [0, 1, 2, 3].map((k) => {
    const bone = bones.getComponent(index, k);
    return { bone, node: skeleton.bones[bone] ?? null, weight: weights.getComponent(index, k) };
  });
  return all.filter(({ weight }) => weight > 0);
}

function numbers(weights: DataTexture): Float32Array {
  return weights.image.data as Float32Array;
}
