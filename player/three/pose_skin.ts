/** PoseSkin: what makes loaded meshes drive themselves from their bones. */

import type { DataTexture, Material, Mesh, Object3D, SkinnedMesh, Vector3 } from "three";

import type { Bounds } from "../core/bound.js";
import type { Description } from "../core/description.js";
import { Drive } from "../core/drive.js";
import { displace, weigh } from "../core/entries.js";
import { Skeleton } from "../core/features.js";
import type { SharedMesh } from "./shared_mesh.js";
import { weightTexture } from "./textures.js";
import type { Textures } from "./textures.js";

/** How a renderer draws displaced materials: by WebGL's shaders, or by nodes. */
export interface Painter {
  material(material: Material, textures: Textures): Material;
  shadows(textures: Textures): { depth: Material; distance: Material } | null;
}

/** A mesh that a skin drives. */
interface Part {
  mesh: Mesh;
  shared: SharedMesh;
  weights: DataTexture;
  /** The material that the mesh was given, and the copies of it that displace. */
  givenMaterial: Material | Material[];
  copies: Material[];
}

const skins = new WeakMap<Object3D, PoseSkin>();

/** The skin that drives a mesh, if there is one. */
export function skinOf(mesh: Object3D): PoseSkin | undefined {
  return skins.get(mesh);
}

/** Drives meshes from their bones: the skin of a file, or a copy of it. */
export class PoseSkin {
  /** Values of the controls by name: what no bone shows, such as a smile. */
  readonly controls: Record<string, number>;
  /** Whether corrections are shown; without them the meshes are plainly skinned. */
  enabled = true;
  /** At most this many components per layer are shown. */
  components = Infinity;
  /** Whether bones drive it, or the weights of the morph targets as a clip or a caller sets them. */
  source: "bones" | "weights" = "bones";
  private readonly parts: Part[];
  private readonly drive: Drive;
  private readonly skeleton: Skeleton;
  private disposed = false;

  constructor(
    readonly description: Description,
    private readonly bounds: Bounds,
    private readonly painter: Painter,
    meshes: [Mesh, SharedMesh][],
    readonly bones: Object3D[],
  ) {
    this.controls = Object.fromEntries(description.controls.map((name) => [name, 0]));
    this.drive = new Drive(description);
    this.skeleton = new Skeleton(description, bones);
    this.parts = meshes.map(([mesh, shared]) => this.attach(mesh, shared));
    this.update();
  }

  /** The meshes it drives. */
  get meshes(): Mesh[] {
    return this.parts.map((part) => part.mesh);
  }

  /** The names of its layers. */
  get layers(): string[] {
    return this.description.layers.map((layer) => layer.name);
  }

  /** The coordinates of all drivers, as last updated. */
  get coordinates(): Float64Array {
    return this.drive.coordinates;
  }

  /** Bytes of its textures on the graphics card. */
  get textureBytes(): number {
    return this.parts.reduce((sum, { shared, weights }) => sum + shared.packed.bytes + numbers(weights).byteLength, 0);
  }

  /** Bring the displacements up to date with the bones; rendering does so by itself. */
  update(): void {
    if (this.source === "bones") this.readBones();
    else this.readWeights();
    for (const part of this.parts) this.writeWeights(part);
  }

  private readBones(): void {
    this.skeleton.update();
    this.description.controls.forEach((name, k) => {
      const value = Number(this.controls[name]);
      this.skeleton.features.controls[k] = Number.isFinite(value) ? value : 0;
    });
    this.drive.update(this.skeleton.features);
    this.bounds.keep(this.drive.coordinates);
    for (const { mesh, shared } of this.parts) {
      const influences = mesh.morphTargetInfluences ?? [];
      shared.targets.forEach(({ kind, coordinate, low, scale }, k) => {
        // As other viewers have them, so that a caller sees what is played.
        if (kind === "component") influences[k] = (this.drive.coordinates[coordinate] - low) / scale;
      });
    }
  }

  private readWeights(): void {
    for (const { mesh, shared } of this.parts) {
      shared.targets.forEach(({ kind, coordinate, low, scale }, k) => {
        const weight = mesh.morphTargetInfluences?.[k] ?? 0;
        if (kind === "component") this.drive.coordinates[coordinate] = low + scale * weight;
      });
    }
  }

  /** Write the weights that the shader reads. */
  private writeWeights({ mesh, shared, weights }: Part): void {
    const { componentOf } = this.description;
    const value = (target: number) => {
      const { kind, coordinate } = shared.targets[target];
      if (kind === "blend") return mesh.morphTargetInfluences?.[target] ?? 0;
      return this.enabled && componentOf[coordinate] < this.components ? this.drive.coordinates[coordinate] : 0;
    };
    weigh(shared.slots, value, numbers(weights));
    weights.needsUpdate = true;
  }

  /** Return a skin that drives other meshes by other bones, in the order of its own. */
  on(meshes: Mesh[], bones: Object3D[]): PoseSkin {
    this.parts.forEach(({ givenMaterial }, k) => {
      meshes[k].material = givenMaterial;
    });
    const pairs = this.parts.map(({ shared }, k): [Mesh, SharedMesh] => [meshes[k], shared]);
    return new PoseSkin(this.description, this.bounds, this.painter, pairs, bones);
  }

  /** Free what it has on the graphics card; geometries and the materials that meshes were given stay the caller's. */
  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    for (const { mesh, copies, shared, weights } of this.parts) {
      for (const material of copies) material.dispose();
      mesh.customDepthMaterial?.dispose();
      mesh.customDistanceMaterial?.dispose();
      shared.packed.release();
      weights.dispose();
      skins.delete(mesh);
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
    const part: Part = { mesh, shared, weights, givenMaterial: mesh.material, copies: [] };
    skins.set(mesh, this);
    mesh.morphTargetInfluences = [...shared.shown];
    mesh.morphTargetDictionary = Object.fromEntries(shared.names.map((name, k) => [name, k]));
    copyMaterials(part, (material) => this.painter.material(material, textures));
    const shadows = this.painter.shadows(textures);
    if (shadows) {
      mesh.customDepthMaterial = shadows.depth;
      mesh.customDistanceMaterial = shadows.distance;
    }
    readVertices(part);
    const updateMatrixWorld = mesh.updateMatrixWorld;
    mesh.updateMatrixWorld = (force?: boolean) => {
      if (mesh === this.parts[0].mesh && !this.disposed) this.update();
      updateMatrixWorld.call(mesh, force);
    };
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

function numbers(weights: DataTexture): Float32Array {
  return weights.image.data as Float32Array;
}
