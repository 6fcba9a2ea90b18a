/** PoseSkin: what makes loaded meshes drive themselves from their bones. */

import { Uint32BufferAttribute, Vector3 } from "three";
import type { BufferGeometry, DataTexture, Material, Mesh, Object3D, SkinnedMesh } from "three";

import type { Description } from "./description.js";
import { Drive } from "./drive.js";
import { displace, pack, slotsOf } from "./entries.js";
import type { Slots, TargetData } from "./entries.js";
import { Skeleton } from "./features.js";
import { PackedTextures, weightTexture } from "./textures.js";
import type { Textures } from "./textures.js";

/** How a renderer draws displaced materials: `webgl` or `webgpu`. */
export interface Painter {
  material(material: Material, textures: Textures): Material;
  shadows(textures: Textures): { depth: Material; distance: Material } | null;
}

/** A mesh (a primitive of the file), with what is shared by its copies. */
interface Part {
  mesh: Mesh;
  packed: PackedTextures;
  textures: Textures;
  /** The material as it was given, and the copies that the mesh wears. */
  given: Material | Material[];
  own: Material[];
}

const skins = new WeakMap<Object3D, PoseSkin>();

/** The skin that drives a mesh, if there is one. */
export function skinOf(mesh: Object3D): PoseSkin | undefined {
  return skins.get(mesh);
}

/** What several copies of one skin share: all that does not change. */
export class SharedSkin {
  readonly slots: Slots;
  private readonly packed = new Map<BufferGeometry, PackedTextures>();

  constructor(
    readonly description: Description,
    readonly painter: Painter,
    /** Names and weights of the morph targets in the file, for clips that play them. */
    readonly names: string[],
    readonly shown: number[],
  ) {
    this.slots = slotsOf(description);
  }

  /** Put the packed targets of a primitive beside its geometry. */
  add(geometry: BufferGeometry, data: TargetData[]): void {
    const entries = pack(this.description, this.slots, data, geometry.getAttribute("position").count);
    const spans = new Uint32BufferAttribute(entries.spans, 2);
    spans.gpuType = 1013; // IntType: the shader reads whole numbers.
    geometry.setAttribute("poseSpan", spans);
    this.packed.set(geometry, new PackedTextures(entries));
  }

  /** The packed targets of a geometry. */
  of(geometry: BufferGeometry): PackedTextures {
    const found = this.packed.get(geometry);
    if (!found) throw new Error("posespace: this mesh does not belong to the skin");
    return found;
  }
}

/** Drives meshes from their bones: one skin of a file, or a copy of it. */
export class PoseSkin {
  /** Values of the controls by name; those that a rig's bones do not show, such as a smile. */
  readonly controls: Record<string, number>;
  /** Whether corrections are shown; without them the meshes are plainly skinned. */
  enabled = true;
  /** Show at most this many components per layer. */
  components = Infinity;
  /** Whether bones drive it, or the weights of the morph targets as a clip or a caller sets them. */
  source: "bones" | "weights" = "bones";
  readonly parts: Part[] = [];
  private readonly drive: Drive;
  private readonly skeleton: Skeleton;
  private readonly weights: DataTexture;
  private disposed = false;

  constructor(
    readonly shared: SharedSkin,
    readonly meshes: Mesh[],
    readonly bones: Object3D[],
  ) {
    const { description, slots } = shared;
    this.controls = Object.fromEntries(description.controls.map((name) => [name, 0]));
    this.drive = new Drive(description);
    this.skeleton = new Skeleton(description, bones);
    this.weights = weightTexture(slots.count);
    for (const mesh of meshes) this.attach(mesh);
    this.update();
  }

  /** The names of its layers. */
  get layers(): readonly string[] {
    return this.shared.description.layers;
  }

  /** Bytes of its textures on the graphics card. */
  get textureBytes(): number {
    const own = (this.weights.image.data as Float32Array).byteLength;
    return this.parts.reduce((sum, part) => sum + part.packed.bytes, own);
  }

  /** The coordinates of all drivers, as last updated. */
  get coordinates(): Float64Array {
    return this.drive.coordinates;
  }

  /** Bring the displacements up to date with the bones; rendering does so by itself. */
  update(): void {
    const { description, slots } = this.shared;
    if (this.source === "bones") {
      this.skeleton.update();
      description.controls.forEach((name, k) => {
        const value = Number(this.controls[name]);
        this.skeleton.features.controls[k] = Number.isFinite(value) ? value : 0;
      });
      this.drive.update(this.skeleton.features);
      this.showWeights();
    } else {
      this.readWeights();
    }
    const steps = this.weights.image.data as Float32Array;
    for (let slot = 0; slot < slots.count; slot++) {
      const value = this.enabled ? this.amount(slot) : 0;
      steps[2 * slot] = value * slots.pointSteps[slot];
      steps[2 * slot + 1] = value * slots.normalSteps[slot];
    }
    this.weights.needsUpdate = true;
  }

  /** The coordinate of a slot; of a blend shape of the rig's own file, its weight. */
  private amount(slot: number): number {
    const { coordinates, componentOf } = this.shared.description;
    if (slot >= coordinates) return this.meshes[0]?.morphTargetInfluences?.[this.shared.slots.targets[slot]] ?? 0;
    return componentOf[slot] < this.components ? this.drive.coordinates[slot] : 0;
  }

  /** Show the coordinates as weights of the morph targets, as other viewers have them. */
  private showWeights(): void {
    const { targets } = this.shared.description;
    for (const mesh of this.meshes) {
      const influences = mesh.morphTargetInfluences;
      if (!influences) continue;
      targets.forEach(({ coordinate, scale }, k) => {
        if (coordinate >= 0) influences[k] = Math.max(0, this.drive.coordinates[coordinate] / scale);
      });
    }
  }

  private readWeights(): void {
    const { targets } = this.shared.description;
    const influences = this.meshes[0]?.morphTargetInfluences ?? [];
    this.drive.coordinates.fill(0);
    targets.forEach(({ coordinate, scale }, k) => {
      if (coordinate >= 0) this.drive.coordinates[coordinate] += scale * (influences[k] ?? 0);
    });
  }

  /** The material that one of its meshes was given, before it was made to displace. */
  given(mesh: Mesh): Material | Material[] {
    return this.parts.find((part) => part.mesh === mesh)?.given ?? mesh.material;
  }

  /** Free what is on the graphics card; geometries and the materials of the file stay the caller's. */
  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    for (const { mesh, own, packed } of this.parts) {
      own.forEach((material) => material.dispose());
      mesh.customDepthMaterial?.dispose();
      mesh.customDistanceMaterial?.dispose();
      packed.release();
      skins.delete(mesh);
    }
    this.weights.dispose();
  }

  private attach(mesh: Mesh): void {
    const { painter, names, shown } = this.shared;
    const packed = this.shared.of(mesh.geometry).take();
    const textures = { kind: packed.kind, points: packed.points, normals: packed.normals, weights: this.weights };
    const part: Part = { mesh, packed, textures, given: mesh.material, own: [] };
    this.parts.push(part);
    skins.set(mesh, this);
    mesh.morphTargetInfluences = [...shown];
    mesh.morphTargetDictionary = Object.fromEntries(names.map((name, k) => [name, k]));
    wearMaterials(part, painter);
    const shadows = painter.shadows(textures);
    if (shadows) {
      mesh.customDepthMaterial = shadows.depth;
      mesh.customDistanceMaterial = shadows.distance;
    }
    const updateMatrixWorld = mesh.updateMatrixWorld;
    mesh.updateMatrixWorld = (force?: boolean) => {
      if (mesh === this.meshes[0] && !this.disposed) this.update();
      updateMatrixWorld.call(mesh, force);
    };
    readVertices(part, this.weights);
  }
}

/** Whatever material a mesh is given, it wears a copy that displaces. */
function wearMaterials(part: Part, painter: Painter): void {
  const wear = (given: Material | Material[]): Material | Material[] => {
    part.own.forEach((material) => material.dispose());
    part.given = given;
    const each = (material: Material) => painter.material(material, part.textures);
    const made = Array.isArray(given) ? given.map(each) : each(given);
    part.own = [made].flat();
    return made;
  };
  let worn = wear(part.mesh.material);
  Object.defineProperty(part.mesh, "material", {
    configurable: true,
    enumerable: true,
    get: () => worn,
    set: (material: Material | Material[]) => {
      worn = wear(material);
    },
  });
}

const offset = new Float64Array(3);

/** Raycasting and bounds read vertices one by one: they see them displaced too. */
function readVertices({ mesh, packed }: Part, weights: DataTexture): void {
  const skinned = mesh as SkinnedMesh;
  mesh.getVertexPosition = (index: number, target: Vector3) => {
    target.fromBufferAttribute(mesh.geometry.getAttribute("position"), index);
    offset.fill(0);
    displace(packed.entries, index, weights.image.data as Float32Array, 2, offset);
    target.set(target.x + offset[0], target.y + offset[1], target.z + offset[2]);
    if (skinned.isSkinnedMesh) skinned.applyBoneTransform(index, target);
    return target;
  };
}
