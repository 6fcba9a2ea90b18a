/** PosedSurface: the points and normals of one copy of a skin, posed on the processor. Its buffers are made once. */

import type { BoneStage } from "../bones/stage.js";
import { blendNormals, blendPoints } from "./blend.js";
import { CorrectionState } from "./corrections.js";
import { DetailState } from "./detail_state.js";
import { LayerState } from "./layers.js";
import { SurfaceNormals, toUnits } from "./normals.js";
import type { PosedSkin } from "./posed_skin.js";
import { refine } from "./subdivision.js";

/** What is shown of a skin. */
export interface Shown {
  /** False: plain skinning. */
  enabled: boolean;
  corrections: boolean;
  detail: boolean;
}

export class PosedSurface {
  /** (F, 3) of the subdivided surface where the skin has detail. */
  readonly points: Float32Array;
  readonly normals: Float32Array;
  private readonly layers: LayerState | null;
  private readonly corrections: CorrectionState | null;
  private readonly detail: DetailState | null;
  private readonly coarseNormals: SurfaceNormals;
  /** (N, 3) displacements of the rest shape by layers and corrections, and none. */
  private readonly displacements: Float32Array;
  private readonly none: Float32Array;
  /** The normals of the coarse vertices. */
  private readonly coarse: Float32Array;
  private shown: Shown | null = null;

  constructor(
    private readonly skin: PosedSkin,
    private readonly stage: BoneStage,
  ) {
    const { mesh, layers, corrections, detail } = skin;
    const bones = stage.changed.length;
    const coarse = 3 * mesh.vertices;
    this.layers = layers && new LayerState(layers, mesh.vertices);
    this.corrections =
      corrections && new CorrectionState(corrections, stage.amountCount, bones, new Float32Array(coarse));
    this.detail = detail && new DetailState(detail, skin, stage);
    this.points = new Float32Array(this.detail ? 3 * this.detail.vertices : coarse);
    this.normals = new Float32Array(this.points.length);
    this.coarse = this.normals.subarray(0, coarse);
    this.displacements = new Float32Array(coarse);
    this.none = new Float32Array(coarse);
    this.coarseNormals = new SurfaceNormals(mesh.triangles, skin.shading);
  }

  /**
   * Follow the stage, which `moved` or not since, the coordinates of all drivers, and the values of targets; returns
   * whether any point changed.
   */
  update(moved: boolean, coordinates: Float64Array, value: (target: number) => number, shown: Shown): boolean {
    const { stage, corrections, detail } = this;
    if (moved) {
      corrections?.note(stage.changed);
      detail?.note();
    }
    // What is not shown follows when it is.
    const isNew = !this.shown || !isSame(this.shown, shown);
    if ((moved || isNew) && shown.enabled && shown.corrections) corrections?.follow(stage.amounts);
    const raised = shown.enabled && shown.detail && detail?.follow(coordinates);
    const displaced = this.layers?.update(value);
    if (!isNew && !moved && !raised && !displaced) return false;
    this.shown = { enabled: shown.enabled, corrections: shown.corrections, detail: shown.detail };
    this.pose(shown);
    return true;
  }

  /** Return how far layers, by their numbers, and corrections displace a coarse vertex as last updated, in metres. */
  displacementsOf(vertex: number): { layers: Map<number, number>; corrections: number } {
    const isCorrected = this.shown?.enabled && this.shown.corrections;
    const moved = isCorrected ? this.corrections?.displacements.subarray(3 * vertex, 3 * vertex + 3) : undefined;
    const layers = isCorrected ? this.layers?.lengthsOf(vertex) : undefined;
    return { layers: layers ?? new Map(), corrections: Math.hypot(...(moved ?? [])) };
  }

  private pose({ enabled, corrections, detail }: Shown): void {
    const { skin, stage, points, normals } = this;
    const corrected = enabled && corrections;
    const [binding, transforms] = enabled ? [skin.mesh.binding, stage.transforms] : [skin.plain, stage.plainTransforms];
    blendPoints(binding, transforms, skin.mesh.rest, this.displaced(corrected), points);
    if (this.detail && enabled && detail) {
      this.detail.raise(points, normals);
      return;
    }
    const layers = corrected ? this.layers : null;
    if (layers?.normals.length) blendNormals(binding, transforms, skin.mesh.normals, layers.normals, normals);
    else if (layers || (corrected && this.corrections)) this.coarseNormals.write(points, this.coarse);
    else blendNormals(binding, transforms, skin.mesh.normals, this.none, normals);
    this.refine();
  }

  /** The sum of all displacements; what layers have is the caller's choice, blend shapes of the rig's file among it. */
  private displaced(corrected: boolean): Float32Array {
    const corrections = corrected ? this.corrections?.displacements : undefined;
    const parts = [this.layers?.points, corrections].filter((part) => part !== undefined);
    if (parts.length < 2) return parts[0] ?? this.none;
    const [first, second] = parts;
    for (let k = 0; k < first.length; k++) this.displacements[k] = first[k] + second[k];
    return this.displacements;
  }

  /** Spread points and normals of the coarse surface over the fine one. */
  private refine(): void {
    const { skin, points, normals } = this;
    if (!skin.detail?.levels.length) return;
    for (const level of skin.detail.levels) {
      refine(level, points, 3);
      refine(level, normals, 3);
    }
    toUnits(normals);
  }
}

function isSame(a: Shown, b: Shown): boolean {
  return a.enabled === b.enabled && a.corrections === b.corrections && a.detail === b.detail;
}
