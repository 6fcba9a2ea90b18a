/** Displacements of points and normals by layers, and by blend shapes that the rig's file had. */

import type { Target } from "../description.js";
import { displacementsByLayer, pack, slotsOf, weigh } from "../entries.js";
import type { Entries, Slots } from "../entries.js";
import type { SkinTargets } from "./skin_targets.js";

/** What all copies of a skin share of its layers. */
export class LayerTable {
  readonly slots: Slots;
  readonly entries: Entries;
  /** Whether normals are displaced too. */
  readonly withNormals: boolean;

  /** Of each target, the mesh that has it, and its number there. */
  readonly sources: SkinTargets["sources"];
  readonly targets: Target[];

  constructor({ targets, data, sources }: SkinTargets, vertices: number) {
    this.targets = targets;
    this.sources = sources;
    this.slots = slotsOf(targets);
    this.entries = pack(targets, this.slots, data, vertices);
    this.withNormals = this.entries.stride === 8;
  }
}

/** The displacements of one copy of a skin. */
export class LayerState {
  readonly points: Float32Array;
  readonly normals: Float32Array;
  /** What a step of each slot's packed numbers weighs, two numbers per slot: now, and as last followed. */
  private readonly weights: Float32Array;
  private readonly followed: Float32Array;

  constructor(
    private readonly table: LayerTable,
    vertices: number,
  ) {
    this.points = new Float32Array(3 * vertices);
    this.normals = new Float32Array(table.withNormals ? 3 * vertices : 0);
    this.weights = new Float32Array(2 * table.slots.count);
    this.followed = new Float32Array(2 * table.slots.count);
  }

  /** Follow the values of targets; returns whether anything changed. */
  update(value: (target: number) => number): boolean {
    const { weights, followed } = this;
    weigh(this.table.slots, value, weights);
    if (weights.every((weight, k) => weight === followed[k])) return false;
    followed.set(weights);
    this.points.fill(0);
    this.normals.fill(0);
    this.add();
    return true;
  }

  /** Return how far each layer displaces a vertex, in metres, by the number of the layer. */
  lengthsOf(vertex: number): Map<number, number> {
    const { entries, slots, targets } = this.table;
    const sums = displacementsByLayer(entries, vertex, this.weights, slots, targets);
    return new Map([...sums].map(([layer, sum]) => [layer, Math.hypot(...sum)]));
  }

  private add(): void {
    const { weights, points, normals } = this;
    const { spans, values, stride } = this.table.entries;
    for (let vertex = 0; vertex < spans.length / 2; vertex++) {
      let slot = -1;
      let at = stride * spans[2 * vertex];
      for (let k = 0; k < spans[2 * vertex + 1]; k++, at += stride) {
        slot += values[at + 3];
        for (let i = 0; i < 3; i++) points[3 * vertex + i] += weights[2 * slot] * values[at + i];
        if (stride === 4) continue;
        for (let i = 0; i < 3; i++) normals[3 * vertex + i] += weights[2 * slot + 1] * values[at + 4 + i];
      }
    }
  }
}
