/** Meshes that a skin drives: by displacements in the vertex shader, or by a surface that is posed on the processor. */

import type { Mesh, Object3D, Vector3 } from "three";

import type { Target } from "../core/description.js";
import type { Features } from "../core/features.js";
import type { Shown } from "../core/posed/posed_surface.js";

/** A mesh, and the morph targets that its file gives it. */
export interface DrivenMesh {
  mesh: Mesh;
  targets: Target[];
}

/** A control point: the node that moves it, and the vertex of the skin that it is on. */
export interface ControlPoint {
  node: Object3D;
  vertex: number;
  /** Write where the surface is there in the world, and its unit normal, as last updated. */
  position(target: Vector3): Vector3;
  normal(target: Vector3): Vector3;
}

/** What moves a vertex of a mesh now. */
export interface VertexReading {
  /** Its number in the skin; on a subdivided surface, that of a vertex at the end of the edge that it is on. */
  vertex: number;
  /** The bones that move it, their nodes where they have any, and their weights. */
  bones: { bone: number; node: Object3D | null; weight: number }[];
  /** The lengths of the displacements by layers, by the number of the layer, and by learned bones; in metres. */
  layers: Map<number, number>;
  corrections: number;
}

export interface DrivenMeshes {
  readonly parts: DrivenMesh[];
  /** What pose spaces see of the bones. */
  readonly features: Features;
  readonly points: ControlPoint[];
  /** Whether learned bones add displacements, and whether there is detail. */
  readonly hasCorrections: boolean;
  readonly hasDetail: boolean;
  /** The weight of control points in the positions of learned bones; null where there are none. */
  beta: number | null;
  /** Bytes on the graphics card. */
  readonly bytes: number;
  /** Bring the features up to date with the bones. */
  follow(): void;
  /** Show the coordinates of all drivers; `value` is that of a target of a mesh. */
  show(coordinates: Float64Array, value: (part: DrivenMesh, target: number) => number, shown: Shown): void;
  /** Return numbers of the skin's vertices, one of each, as numbers of the vertices of each mesh. */
  spread(values: Float64Array): Float64Array[];
  /** Return what moves a vertex of one of the meshes now. */
  readVertex(mesh: Mesh, index: number): VertexReading;
  /** Return the same of other meshes and bones, in the order of these. */
  on(meshes: Mesh[], bones: Object3D[]): DrivenMeshes;
  /** Free what it has on the graphics card. */
  dispose(): void;
}
