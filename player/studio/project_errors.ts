/** Errors of the current skin at the sculpts, fetched as they are looked at. */

import type { Errors } from "../page/errors.js";
import type { Project } from "./project.js";

/** The largest error that colours tell from others, of the box's diagonal. */
const LARGEST = 0.02;

/** What is known of a sculpt: distances in metres by source, and its shape. */
export interface Truth {
  points: Float32Array;
  distances: Record<string, Float32Array>;
}

export class ProjectErrors implements Errors {
  readonly data = { largest: 1, unit: "mm", ratios: [] as number[] };
  revision = 0;
  /** By the name of the sculpt and the revision of the skin; null: on its way. */
  private readonly known = new Map<string, Truth | null>();

  constructor(private readonly project: Project) {
    const largest = 1000 * LARGEST * (project.info?.diagonal ?? 1);
    this.data.largest = Number(largest.toPrecision(1));
  }

  /** What is known of a sculpt, by its number; where that is nothing yet, it is fetched and tools are told. */
  at(pose: number): Truth | null {
    const { info } = this.project;
    const name = info?.sculpts[pose]?.name;
    if (!info || name === undefined) return null;
    const key = `${info.revision} ${name}`;
    const known = this.known.get(key);
    if (known === undefined) this.fetch(name, key);
    return known ?? null;
  }

  shares(source: string, pose: number): Float64Array {
    const distances = this.at(pose)?.distances[source];
    return Float64Array.from({ length: this.project.info?.vertices ?? 0 }, (_, vertex) =>
      Math.min(1, (1000 * (distances?.[vertex] ?? 0)) / this.data.largest),
    );
  }

  share(source: string, pose: number, vertex: number): number | undefined {
    const distance = this.at(pose)?.distances[source]?.[vertex];
    return distance === undefined ? undefined : Math.min(1, (1000 * distance) / this.data.largest);
  }

  private async fetch(name: string, key: string): Promise<void> {
    this.known.set(key, null);
    const answer = await this.project.do("truth", { name });
    // What is known of skins before is of no use.
    for (const old of this.known.keys()) if (old.split(" ")[0] !== key.split(" ")[0]) this.known.delete(old);
    if (!answer) return;
    const { points, skin, plain } = answer.arrays as Record<string, Float32Array>;
    this.known.set(key, { points, distances: { skin, plain } });
    this.revision++;
    this.project.notify();
  }
}
