/** PosedSkin: what all copies of a skin share whose surface is posed on the processor. */

import type { Bounds } from "../bound.js";
import type { Description } from "../description.js";
import type { BoundBones } from "./bone_source.js";
import type { FlatCorners } from "./flat_normals.js";
import type { HeightTable } from "./heights.js";
import type { LayerTable } from "./layers.js";
import type { SkinMesh } from "./skin_mesh.js";
import type { Level } from "./subdivision.js";
import type { Groups } from "../weld.js";

export interface PosedSkin extends BoundBones {
  description: Description;
  bounds: Bounds;
  /** The surface at rest. */
  mesh: SkinMesh;
  layers: LayerTable | null;
  detail: PosedDetail | null;
  /** Which vertices of the coarse surface share a normal; null: none do. */
  shading: Groups | null;
}

/** The subdivided surface and its heights. */
export interface PosedDetail {
  levels: Level[];
  heights: HeightTable;
  /** The driver of its components, or -1: the bones give their amounts. */
  driver: number;
  /** Which vertices of the fine surface share a normal; null: none do. */
  shading: Groups | null;
  corners: FlatCorners;
}
