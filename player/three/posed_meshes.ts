/** Meshes whose points and normals are posed on the processor: ordinary ones, which any renderer draws as they are. */

import { Box3, Sphere } from "three";
import type { BufferAttribute, Mesh, Object3D } from "three";

import type { BoneStage } from "../core/bones/stage.js";
import type { Features } from "../core/features.js";
import type { FineSet } from "../core/posed/fine_set.js";
import type { PosedSkin } from "../core/posed/posed_skin.js";
import { PosedSurface } from "../core/posed/posed_surface.js";
import type { Shown } from "../core/posed/posed_surface.js";
import { coarseVertex, refined } from "../core/posed/subdivision.js";
import type { ControlPoint, DrivenMesh, DrivenMeshes, VertexReading } from "./driven_meshes.js";
import { posedAttribute } from "./posed_geometry.js";
import type { StaticGeometry } from "./posed_geometry.js";
import type { MeshContent } from "./sources.js";

/** A primitive of the file. */
export interface PosedPrimitive {
  /** The number of its mesh in the file, and what that says of the mesh. */
  source: number;
  content: MeshContent;
  geometry: StaticGeometry;
}

/** Points and normals of the vertices that some primitives share. */
interface Vertices {
  /** The skin's vertex of each; null: they are the skin's. */
  from: Uint32Array | null;
  position: BufferAttribute;
  normal: BufferAttribute;
}

interface Part extends DrivenMesh {
  primitive: PosedPrimitive;
}

export class PosedMeshes implements DrivenMeshes {
  readonly parts: Part[];
  readonly points: ControlPoint[];
  private readonly stage: BoneStage;
  private readonly surface: PosedSurface;
  private readonly vertices: Vertices[];
  /** Around the surface as last shown; all its geometries share them. */
  private readonly box = new Box3();
  private readonly sphere = new Sphere();
  private moved = false;

  constructor(
    private readonly skin: PosedSkin,
    private readonly sets: FineSet[],
    meshes: [Mesh, PosedPrimitive][],
    private readonly bones: Object3D[],
  ) {
    this.stage = skin.stageOf(bones);
    this.surface = new PosedSurface(skin, this.stage);
    this.vertices = sets.map(({ vertices, count }) => {
      const made = (vectors: Float32Array) => posedAttribute(vertices ? new Float32Array(3 * count) : vectors);
      return { from: vertices, position: made(this.surface.points), normal: made(this.surface.normals) };
    });
    this.parts = meshes.map(([mesh, primitive]) => this.attach(mesh, primitive));
    this.points = Array.from(skin.points, (vertex, k) => this.controlPoint(bones[k + 1], vertex));
  }

  get features(): Features {
    return this.stage.features;
  }

  get beta(): number | null {
    return this.stage.beta;
  }

  set beta(beta: number | null) {
    this.stage.beta = beta;
  }

  get bytes(): number {
    return this.vertices.reduce((sum, { position }) => sum + 2 * position.array.byteLength, 0);
  }

  get hasCorrections(): boolean {
    return this.skin.corrections !== null;
  }

  get hasDetail(): boolean {
    return this.skin.detail !== null;
  }

  spread(values: Float64Array): Float64Array[] {
    const fine = refined(this.skin.detail?.levels ?? [], values, 1);
    return this.parts.map(({ primitive }) => {
      const { from } = this.vertices[primitive.geometry.set];
      return from ? Float64Array.from(from, (vertex) => fine[vertex]) : fine;
    });
  }

  readVertex(mesh: Mesh, index: number): VertexReading {
    const { binding } = this.skin.mesh;
    const part = this.parts.find((each) => each.mesh === mesh);
    const { from = null } = part ? this.vertices[part.primitive.geometry.set] : {};
    const vertex = coarseVertex(this.skin.detail?.levels ?? [], from ? from[index] : index);
    const bones = [];
    for (let k = binding.starts[vertex]; k < binding.starts[vertex + 1]; k++) {
      // Learned bones are no nodes: control points move them.
      const node = this.points.length ? null : this.bones[binding.bones[k]];
      bones.push({ bone: binding.bones[k], node, weight: binding.weights[k] });
    }
    return { vertex, bones, ...this.surface.displacementsOf(vertex) };
  }

  follow(): void {
    // What moved is shown by the next call of `show`, which may not be the next one of this.
    this.moved = this.stage.update() || this.moved;
  }

  show(coordinates: Float64Array, value: (part: DrivenMesh, target: number) => number, shown: Shown): void {
    const { sources } = this.skin.layers ?? { sources: [] };
    const shownValue = (number: number) => {
      const { mesh, target } = sources[number];
      const part = this.parts.find(({ primitive }) => primitive.source === mesh);
      return part ? value(part, target) : 0;
    };
    const changed = this.surface.update(this.moved, coordinates, shownValue, shown);
    this.moved = false;
    if (changed) this.write();
  }

  /** Hand the surface over to the meshes. */
  private write(): void {
    const { points, normals } = this.surface;
    for (const { from, position, normal } of this.vertices) {
      if (from) {
        gather(points, from, position.array as Float32Array);
        gather(normals, from, normal.array as Float32Array);
      }
      position.needsUpdate = true;
      normal.needsUpdate = true;
    }
    writeBox(points, this.box);
    this.box.getBoundingSphere(this.sphere);
  }

  on(meshes: Mesh[], bones: Object3D[]): PosedMeshes {
    const pairs = this.parts.map(({ primitive }, k): [Mesh, PosedPrimitive] => [meshes[k], primitive]);
    const copy = new PosedMeshes(this.skin, this.sets, pairs, bones);
    copy.beta = this.beta;
    return copy;
  }

  dispose(): void {
    for (const { mesh } of this.parts) mesh.geometry.dispose();
  }

  private attach(mesh: Mesh, primitive: PosedPrimitive): Part {
    const { position, normal } = this.vertices[primitive.geometry.set];
    mesh.geometry = primitive.geometry.with(position, normal);
    mesh.geometry.boundingBox = this.box;
    mesh.geometry.boundingSphere = this.sphere;
    const { targets, shown, names } = primitive.content;
    if (targets.length) {
      mesh.morphTargetInfluences = [...shown];
      mesh.morphTargetDictionary = Object.fromEntries(names.map((name, k) => [name, k]));
    }
    return { mesh, targets, primitive };
  }

  private controlPoint(node: Object3D, vertex: number): ControlPoint {
    const { points, normals } = this.surface;
    const space = this.parts[0].mesh;
    return {
      node,
      vertex,
      position: (target) => target.fromArray(points, 3 * vertex).applyMatrix4(space.matrixWorld),
      normal: (target) => target.fromArray(normals, 3 * vertex).transformDirection(space.matrixWorld),
    };
  }
}

/** Write the rows (., 3) that are numbered. */
function gather(vectors: Float32Array, numbers: Uint32Array, out: Float32Array): void {
  for (let k = 0, at = 0; k < numbers.length; k++) {
    const from = 3 * numbers[k];
    out[at++] = vectors[from];
    out[at++] = vectors[from + 1];
    out[at++] = vectors[from + 2];
  }
}

/** Write the box around points (., 3). */
function writeBox(points: Float32Array, { min, max }: Box3): void {
  let [ax, ay, az, bx, by, bz] = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (let k = 0; k < points.length; k += 3) {
    const x = points[k];
    const y = points[k + 1];
    const z = points[k + 2];
    if (x < ax) ax = x;
    if (y < ay) ay = y;
    if (z < az) az = z;
    if (x > bx) bx = x;
    if (y > by) by = y;
    if (z > bz) bz = z;
  }
  min.set(ax, ay, az);
  max.set(bx, by, bz);
}
