/** Counts the steps that the bounds of a file take, before they are made: a short file could keep a player busy for ever. */

import { sampleCount } from "./bound.js";
import { EXTENSION } from "./description.js";
import type { Description, Target } from "./description.js";
import type { TargetData } from "./entries.js";

/** Most steps that making the bounds of a file may take: some seconds. */
const MOST_STEPS = 2 ** 31;

export class BoundCost {
  private total = 0;
  private readonly drivers = new Set<number>();

  /** Count those of a mesh in a file of so many vertices and triangles; throws where they are too many. */
  add({ drivers }: Description, targets: Target[], data: TargetData[][], size: number): void {
    const layers = new Set<string>();
    const primitives = new Set(data);
    targets.forEach(({ kind, driver, layer, normals }, t) => {
      if (kind !== "component") return;
      layers.add(`${layer} ${normals}`);
      const { samples, centres, weights } = drivers[driver];
      const count = sampleCount(samples);
      if (!this.drivers.has(driver)) this.total += count * (centres.length + weights.length);
      this.drivers.add(driver);
      for (const primitive of primitives) this.total += count * primitive[t].vertices.length;
    });
    this.total += layers.size * size;
    if (this.total <= MOST_STEPS) return;
    throw new Error(`${EXTENSION}: layers: expected at most ${MOST_STEPS} steps to their bounds, got ${this.total}`);
  }
}
