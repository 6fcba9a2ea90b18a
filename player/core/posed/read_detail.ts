/** The detail of a file, read and checked: levels of subdivision, and heights of each fine vertex. */

import type { Accessors } from "../accessors.js";
import type { Description } from "../description.js";
import type { Fields } from "../fields.js";
import { FlatCorners } from "./flat_normals.js";
import { HeightTable } from "./heights.js";
import type { PosedDetail } from "./posed_skin.js";
import { shadingOf } from "./shading.js";
import type { SkinMesh } from "./skin_mesh.js";
import { fineVertexCount, levelsOf, MOST_LEVELS, refined } from "./subdivision.js";

/** Most corners of fine triangles. */
const MOST_CORNERS = 2 ** 24;

/** Read the part `detail`; `amounts` is how many components of it the bones drive. */
export async function readDetail(
  fields: Fields,
  accessors: Accessors,
  { drivers }: Description,
  { vertices, triangles, rest }: SkinMesh,
  amounts: number,
): Promise<PosedDetail> {
  const count = fields.whole("levels", 0, MOST_LEVELS);
  const corners = triangles.length * 4 ** count;
  if (corners > MOST_CORNERS) throw new Error(`${fields.where}: levels: expected fewer than ${corners / 3} triangles`);
  const fine = fineVertexCount(triangles, vertices, count);
  const { values, scales } = await accessors.packed(fields, "heights", fine);
  const driver = fields.has("driver") ? fields.whole("driver", 0, drivers.length - 1) : -1;
  const components = driver < 0 ? amounts : drivers[driver].columns;
  if (components !== scales.length) {
    throw new Error(`${fields.where}: heights: expected ${components} components of ${fine}, got ${scales.length}`);
  }
  const levels = levelsOf(triangles, vertices, count);
  const fineTriangles = levels[levels.length - 1]?.triangles ?? triangles;
  const shading = shadingOf(refined(levels, rest, 3), fineTriangles);
  return {
    levels,
    heights: new HeightTable(values, scales),
    driver,
    shading,
    corners: new FlatCorners(fineTriangles, count, shading, fine),
  };
}
