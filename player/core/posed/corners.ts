/** The corners of a file's triangles, checked and counted: a few bytes can ask for millions of them. */

import { Fields } from "../fields.js";
import type { GltfFile, PrimitiveJson } from "../gltf_file.js";

/** Most corners of triangles of a file. */
const MOST_CORNERS = 2 ** 23;

/** Most corners of primitives that have no indices of their own: these take no bytes of the file. */
const MOST_SHARED = 2 ** 20;

export class CornerReader {
  private readonly seen = new Set<number>();
  private total = 0;
  private shared = 0;

  constructor(private readonly file: GltfFile) {}

  /** The corners of a primitive's triangles, which are `vertices` vertices. */
  async read({ indices }: PrimitiveJson, vertices: number): Promise<Uint32Array> {
    if (indices === undefined) {
      this.count(vertices, true, "a mesh");
      return Uint32Array.from({ length: vertices - (vertices % 3) }, (_, k) => k);
    }
    const where = `accessor ${indices}`;
    const { json } = this.file;
    const fields = new Fields(json.accessors[indices], where);
    if (!fields.has("bufferView")) throw new Error(`${where}: expected the corners of triangles in a buffer view`);
    const count = fields.whole("count", 0, MOST_CORNERS);
    this.count(count, this.seen.has(indices), where);
    this.seen.add(indices);
    const listed = await this.file.accessor(indices);
    const corners = Uint32Array.from({ length: count - (count % 3) }, (_, k) => listed.getX(k));
    if (corners.some((corner) => corner >= vertices)) throw new Error(`${where}: expected corners below ${vertices}`);
    return corners;
  }

  private count(corners: number, isShared: boolean, where: string): void {
    this.total += corners;
    if (isShared) this.shared += corners;
    if (this.total > MOST_CORNERS || this.shared > MOST_SHARED) {
      throw new Error(`${where}: expected at most ${MOST_CORNERS} corners of triangles, ${MOST_SHARED} of them shared`);
    }
  }
}
