/** PoseSkin: what makes loaded meshes drive themselves from their bones. */

import type { Mesh, Object3D, Vector3 } from "three";

import type { Bounds } from "../core/bound.js";
import type { Description } from "../core/description.js";
import { Drive } from "../core/drive.js";
import type { DrivenMesh, DrivenMeshes, VertexReading } from "./driven_meshes.js";

const skins = new WeakMap<Object3D, PoseSkin>();

/** The skin that drives a mesh, if there is one. */
export function skinOf(mesh: Object3D): PoseSkin | undefined {
  return skins.get(mesh);
}

/** Drives meshes from their bones: the skin of a file, or a copy of it. */
export class PoseSkin {
  /** Values of the controls by name: what no bone shows, such as a smile. */
  readonly controls: Record<string, number>;
  /** Whether all that the skin has is shown; false: the meshes are plainly skinned. */
  enabled = true;
  /** Whether displacements are shown, those of layers and those of learned bones. */
  corrections = true;
  /** Whether detail is shown. */
  detail = true;
  /** At most this many components per layer are shown. */
  components = Infinity;
  /** Whether bones drive it, or the weights of the morph targets as a clip or a caller sets them. */
  source: "bones" | "weights" = "bones";
  /** The control points that move it: the node of each, and the vertex it is on; a skeleton has none. */
  readonly points: readonly { node: Object3D; vertex: number }[];
  private readonly drive: Drive;
  private disposed = false;

  constructor(
    readonly description: Description,
    private readonly bounds: Bounds,
    private readonly driven: DrivenMeshes,
    /** Of skeletons their joints; of control points the root, and below it the points. */
    readonly bones: Object3D[],
  ) {
    this.controls = Object.fromEntries(description.controls.map((name) => [name, 0]));
    this.drive = new Drive(description);
    this.points = driven.points;
    for (const mesh of this.meshes) skins.set(mesh, this);
    this.update();
    this.follow(driven.parts[0].mesh);
  }

  /** The meshes it drives. */
  get meshes(): Mesh[] {
    return this.driven.parts.map((part) => part.mesh);
  }

  /** The names of its layers. */
  get layers(): string[] {
    return this.description.layers.map((layer) => layer.name);
  }

  /** The coordinates of all drivers, as last updated. */
  get coordinates(): Float64Array {
    return this.drive.coordinates;
  }

  /** Weight of the control points: how exactly the surface follows them; null where there are none. */
  get beta(): number | null {
    return this.driven.beta;
  }

  set beta(beta: number | null) {
    if (beta !== null && this.driven.beta !== null) this.driven.beta = beta;
  }

  /** A degree of freedom of a joint as last updated, 0 to 2: angles from rest about its axes, 3 to 5: translations in the skin's unit. */
  freedom(joint: number, axis: number): number {
    return this.drive.freedom(joint, axis, this.driven.features);
  }

  /** The rotation of a joint relative to the joint it is linked to, x y z w, as last updated. */
  rotation(joint: number): Float64Array {
    return this.driven.features.rotations.subarray(4 * joint, 4 * joint + 4);
  }

  /** Bytes of its textures on the graphics card, or of its posed points and normals. */
  get textureBytes(): number {
    return this.driven.bytes;
  }

  /** Whether it displaces its rest shape, by layers or by what learned bones add. */
  get hasCorrections(): boolean {
    return this.layers.length > 0 || this.driven.hasCorrections;
  }

  /** Whether it has detail. */
  get hasDetail(): boolean {
    return this.driven.hasDetail;
  }

  /** Return numbers of the skin's vertices, one of each, as numbers of the vertices of each of its meshes. */
  spread(values: Float64Array): Float64Array[] {
    return this.driven.spread(values);
  }

  /** Return what moves a vertex of one of its meshes, as last updated. */
  readVertex(mesh: Mesh, index: number): VertexReading {
    return this.driven.readVertex(mesh, index);
  }

  /** Write where the surface is at a control point, in the world, as last updated. */
  pointPosition(point: number, target: Vector3): Vector3 {
    return this.driven.points[point].position(target);
  }

  /** Write the unit normal of the surface at a control point, in the world, as last updated. */
  pointNormal(point: number, target: Vector3): Vector3 {
    return this.driven.points[point].normal(target);
  }

  /** Bring the meshes up to date with the bones; rendering does so by itself. */
  update(): void {
    this.driven.follow();
    if (this.source === "bones") this.readBones();
    else this.readWeights();
    this.driven.show(this.coordinates, (part, target) => this.value(part, target), this);
  }

  private readBones(): void {
    const { features } = this.driven;
    this.description.controls.forEach((name, k) => {
      const value = Number(this.controls[name]);
      features.controls[k] = Number.isFinite(value) ? value : 0;
    });
    this.drive.update(features);
    this.bounds.keep(this.coordinates);
    for (const { mesh, targets } of this.driven.parts) {
      const influences = mesh.morphTargetInfluences ?? [];
      targets.forEach(({ kind, coordinate, low, scale }, k) => {
        // As other viewers have them, so that a caller sees what is played.
        if (kind === "component") influences[k] = (this.coordinates[coordinate] - low) / scale;
      });
    }
  }

  private readWeights(): void {
    for (const { mesh, targets } of this.driven.parts) {
      targets.forEach(({ kind, coordinate, low, scale }, k) => {
        const weight = mesh.morphTargetInfluences?.[k] ?? 0;
        if (kind === "component") this.coordinates[coordinate] = low + scale * weight;
      });
    }
  }

  /** What a target of a mesh is shown by. */
  private value({ mesh, targets }: DrivenMesh, target: number): number {
    const { kind, coordinate } = targets[target];
    if (kind === "blend") return mesh.morphTargetInfluences?.[target] ?? 0;
    const isShown = this.enabled && this.corrections && this.description.componentOf[coordinate] < this.components;
    return isShown ? this.coordinates[coordinate] : 0;
  }

  /** Return a skin that drives other meshes by other bones, in the order of its own. */
  on(meshes: Mesh[], bones: Object3D[]): PoseSkin {
    return new PoseSkin(this.description, this.bounds, this.driven.on(meshes, bones), bones);
  }

  /** Free what it has on the graphics card; materials that meshes were given stay the caller's. */
  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    for (const mesh of this.meshes) skins.delete(mesh);
    this.driven.dispose();
  }

  /** Update whenever the matrices of a mesh are: before each frame that is drawn. */
  private follow(mesh: Mesh): void {
    const updateMatrixWorld = mesh.updateMatrixWorld;
    mesh.updateMatrixWorld = (force?: boolean) => {
      if (!this.disposed) this.update();
      updateMatrixWorld.call(mesh, force);
    };
  }
}
