/** Heights of the detail over the subdivided surface: of each fine vertex a sum of components, times their amounts. */

import type { Packed } from "../accessors.js";
import type { Binding } from "../bones/binding.js";
import type { BoneStage } from "../bones/stage.js";
import { refine } from "./subdivision.js";
import type { Level } from "./subdivision.js";

/** What all copies of a skin share of its detail. */
export class HeightTable {
  readonly count: number;
  /** (F, D) heights per unit, and of each component the length of one unit. */
  readonly values: Packed;
  readonly scales: Float64Array;

  /** Parameters: heights (D, F) as a file has them. */
  constructor(values: Packed, scales: Float64Array) {
    this.count = scales.length;
    this.scales = scales;
    this.values = values.slice();
    const vertices = values.length / this.count;
    for (let d = 0; d < this.count; d++) {
      for (let vertex = 0; vertex < vertices; vertex++) {
        this.values[this.count * vertex + d] = values[vertices * d + vertex];
      }
    }
  }
}

/** The heights of one copy of a skin. */
export interface Heights {
  readonly heights: Float32Array;
  /** Note that the bones moved. */
  note(): void;
  /** Follow the bones and the coordinates of all drivers; returns whether any height changed. */
  follow(coordinates: Float64Array): boolean;
}

/** Heights whose amounts a driver gives: the same at all vertices. */
export class DrivenHeights implements Heights {
  readonly heights: Float32Array;
  private readonly amounts: Float64Array;

  /** Parameters: where the coordinates of its driver begin. */
  constructor(
    private readonly table: HeightTable,
    private readonly start: number,
  ) {
    this.amounts = new Float64Array(table.count).fill(Number.NaN);
    this.heights = new Float32Array(table.values.length / table.count);
  }

  note(): void {}

  follow(coordinates: Float64Array): boolean {
    const { amounts, heights } = this;
    const { scales, values, count } = this.table;
    let changed = false;
    for (let d = 0; d < count; d++) {
      const amount = scales[d] * coordinates[this.start + d];
      changed ||= amount !== amounts[d];
      amounts[d] = amount;
    }
    if (!changed) return false;
    for (let vertex = 0, at = 0; vertex < heights.length; vertex++) {
      let height = 0;
      for (let d = 0; d < count; d++) height += amounts[d] * values[at++];
      heights[vertex] = height;
    }
    return true;
  }
}

/** Heights whose amounts bones give: those of a vertex are those of its bones, blended, and of a midpoint its ends'. */
export class BoneHeights implements Heights {
  readonly heights: Float32Array;
  /** (B, D) the bones' amounts in lengths of units, and of each bone, 1 where they changed and were not followed. */
  private readonly scaled: Float64Array;
  private readonly pending: Uint8Array;
  /** (., D) the amounts of the vertices of all levels but the finest, and of each, 1 where they changed. */
  private readonly amounts: Float32Array;
  private readonly stale: Uint8Array;
  private readonly coarser: Level[];
  private readonly finest: Level | null;

  /** Parameters: the stage whose bones have amounts, and which of these is the first of the detail. */
  constructor(
    private readonly table: HeightTable,
    private readonly binding: Binding,
    levels: Level[],
    private readonly stage: BoneStage,
    private readonly first: number,
  ) {
    this.coarser = levels.slice(0, -1);
    this.finest = levels[levels.length - 1] ?? null;
    const vertices = this.finest?.vertices ?? binding.starts.length - 1;
    this.scaled = new Float64Array(table.count * stage.changed.length);
    this.pending = new Uint8Array(stage.changed.length);
    this.amounts = new Float32Array(table.count * vertices);
    this.stale = new Uint8Array(vertices);
    this.heights = new Float32Array(table.values.length / table.count);
  }

  note(): void {
    const { changed } = this.stage;
    for (let bone = 0; bone < changed.length; bone++) this.pending[bone] |= changed[bone];
  }

  follow(): boolean {
    const { pending, scaled, first } = this;
    if (!pending.includes(1)) return false;
    const { count, scales } = this.table;
    const { amounts, amountCount } = this.stage;
    for (let bone = 0; bone < pending.length; bone++) {
      for (let d = 0; d < count; d++) scaled[count * bone + d] = scales[d] * amounts[amountCount * bone + first + d];
    }
    const { starts, bones } = this.binding;
    for (let vertex = 0; vertex < starts.length - 1; vertex++) {
      let stale = 0;
      for (let k = starts[vertex]; k < starts[vertex + 1]; k++) stale |= pending[bones[k]];
      this.stale[vertex] = stale;
      if (stale) this.gather(vertex);
    }
    pending.fill(0);
    for (const level of this.coarser) this.refine(level);
    this.writeHeights();
    if (this.finest) this.writeMidpoints(this.finest);
    return true;
  }

  /** Write the amounts of a vertex. */
  private gather(vertex: number): void {
    const { amounts, scaled } = this;
    const { starts, bones, weights } = this.binding;
    const { count } = this.table;
    const begin = starts[vertex];
    const end = starts[vertex + 1];
    for (let d = 0, to = count * vertex; d < count; d++, to++) {
      let amount = 0;
      for (let k = begin; k < end; k++) amount += weights[k] * scaled[count * bones[k] + d];
      amounts[to] = amount;
    }
  }

  private refine(level: Level): void {
    const { lows, highs, count } = level.edges;
    refine(level, this.amounts, this.table.count);
    for (let edge = 0; edge < count; edge++) {
      this.stale[level.vertices + edge] = this.stale[lows[edge]] | this.stale[highs[edge]];
    }
  }

  private writeHeights(): void {
    const { amounts, stale, heights } = this;
    const { count, values } = this.table;
    for (let vertex = 0; vertex < stale.length; vertex++) {
      if (!stale[vertex]) continue;
      let height = 0;
      for (let at = count * vertex, end = at + count; at < end; at++) height += amounts[at] * values[at];
      heights[vertex] = height;
    }
  }

  /** Write the heights of the finest level's own vertices. */
  private writeMidpoints({ vertices, edges }: Level): void {
    const { amounts, stale, heights } = this;
    const { count, values } = this.table;
    const { lows, highs } = edges;
    for (let edge = 0; edge < edges.count; edge++) {
      const low = lows[edge];
      const high = highs[edge];
      if (!(stale[low] | stale[high])) continue;
      let height = 0;
      let a = count * low;
      let b = count * high;
      let at = count * (vertices + edge);
      const end = at + count;
      for (; at + 2 < end; at += 3, a += 3, b += 3) {
        height += (amounts[a] + amounts[b]) * values[at];
        height += (amounts[a + 1] + amounts[b + 1]) * values[at + 1];
        height += (amounts[a + 2] + amounts[b + 2]) * values[at + 2];
      }
      for (; at < end; at++) height += (amounts[a++] + amounts[b++]) * values[at];
      heights[vertices + edge] = 0.5 * height;
    }
  }
}
