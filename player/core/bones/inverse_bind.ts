/** The inverse bind matrices of a file's joints, for positions in metres. */

import { EXTENSION } from "../description.js";
import type { Description } from "../description.js";
import { Fields } from "../fields.js";
import type { GltfFile } from "../gltf_file.js";

/** Read those of the first skin: 3 rows of 4 for each joint. */
export async function readInverseBind(
  file: GltfFile,
  { joints, grid, gridCentre }: Description,
): Promise<Float64Array> {
  const { skins = [], accessors } = file.json;
  const skin = new Fields(skins[0], `${EXTENSION}: skin 0`);
  skin.wholes("joints", 0, 2 ** 31 - 1, joints.length);
  const index = skin.whole("inverseBindMatrices", 0, accessors.length - 1);
  new Fields(accessors[index], `accessor ${index}`).whole("count", joints.length, joints.length);
  const table = await file.accessor(index);
  const matrices = new Float64Array(12 * joints.length);
  for (let joint = 0; joint < joints.length; joint++) {
    for (let row = 0; row < 3; row++) {
      const at = 12 * joint + 4 * row;
      // A file has columns, for positions that may be fractions of a grid.
      const value = (column: number) => table.getComponent(joint, 4 * column + row);
      matrices[at + 3] = value(3);
      for (let column = 0; column < 3; column++) {
        matrices[at + column] = value(column) / grid;
        matrices[at + 3] -= matrices[at + column] * gridCentre[column];
      }
    }
  }
  if (!matrices.every(Number.isFinite)) throw new Error(`accessor ${index}: expected finite numbers`);
  return matrices;
}
