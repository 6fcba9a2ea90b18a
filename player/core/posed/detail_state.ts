/** The detail of one copy of a skin: the coarse points subdivided and moved along their normals by heights. */

import type { BoneStage } from "../bones/stage.js";
import { raise, writeAreas } from "./flat_normals.js";
import { BoneHeights, DrivenHeights } from "./heights.js";
import type { Heights } from "./heights.js";
import { SurfaceNormals } from "./normals.js";
import type { PosedDetail, PosedSkin } from "./posed_skin.js";
import { refine } from "./subdivision.js";

export class DetailState {
  /** How many vertices the fine surface has. */
  readonly vertices: number;
  private readonly heights: Heights;
  private readonly areas: Float32Array;
  private readonly coarse: Uint32Array;
  private readonly fineNormals: SurfaceNormals;

  constructor(
    private readonly detail: PosedDetail,
    { description, mesh, corrections }: PosedSkin,
    stage: BoneStage,
  ) {
    const { levels, heights, driver } = detail;
    this.heights =
      driver < 0
        ? new BoneHeights(heights, mesh.binding, levels, stage, corrections?.count ?? 0)
        : new DrivenHeights(heights, description.starts[driver]);
    this.vertices = this.heights.heights.length;
    this.coarse = mesh.triangles;
    this.areas = new Float32Array(mesh.triangles.length);
    const finest = levels[levels.length - 1];
    this.fineNormals = new SurfaceNormals(finest?.triangles ?? mesh.triangles, detail.shading, finest !== undefined);
  }

  /** Note that the stage moved. */
  note(): void {
    this.heights.note();
  }

  /** Follow the stage and the coordinates of all drivers; returns whether any height changed. */
  follow(coordinates: Float64Array): boolean {
    return this.heights.follow(coordinates);
  }

  /** Write the fine points, of which the coarse ones are there already, and their normals. */
  raise(points: Float32Array, normals: Float32Array): void {
    const { levels, corners, shading } = this.detail;
    writeAreas(points, this.coarse, this.areas);
    for (const level of levels) refine(level, points, 3);
    raise(corners, this.areas, shading, this.heights.heights, points);
    this.fineNormals.write(points, normals);
  }
}
