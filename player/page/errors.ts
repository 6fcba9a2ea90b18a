/** Errors at the listed poses: how far each vertex of a source is from the truth there. */

import { bytesOf } from "./data.js";
import type { PageErrors } from "./data.js";

/** What tools ask of errors. */
export interface Errors {
  /** The largest error that colours tell from others, its unit, and per pose the error over that of plain skinning. */
  readonly data: Pick<PageErrors, "largest" | "unit" | "ratios">;
  /** Another number whenever errors have become known or have changed. */
  readonly revision: number;
  /** Shares of the largest error, one per vertex of the skin; sources without errors have none. */
  shares(source: string, pose: number): Float64Array;
  /** The error of a vertex as a share of the largest; 1: that or more; undefined where it is not known. */
  share(source: string, pose: number, vertex: number): number | undefined;
}

/** The errors that a page was exported with. */
export class StoredErrors implements Errors {
  readonly revision = 0;
  /** By the name of the source: a byte per pose and vertex. */
  private readonly bytes: Record<string, Uint8Array>;
  /** How many vertices the skin has. */
  readonly vertices: number;

  constructor(readonly data: PageErrors) {
    this.bytes = { skin: bytesOf(data.skin), plain: bytesOf(data.plain) };
    this.vertices = this.bytes.skin.length / data.ratios.length;
  }

  shares(source: string, pose: number): Float64Array {
    const shares = new Float64Array(this.vertices);
    for (let vertex = 0; vertex < this.vertices; vertex++) shares[vertex] = this.share(source, pose, vertex) ?? 0;
    return shares;
  }

  share(source: string, pose: number, vertex: number): number | undefined {
    const byte = this.bytes[source]?.[pose * this.vertices + vertex];
    return byte === undefined ? undefined : byte / 255;
  }
}
