/** Linear blend skinning by any number of bones per vertex: points, and normals where they are carried along. */

import type { Binding } from "../bones/binding.js";

const blend = new Float64Array(12);

/** Write to `points` the rest shape plus displacements, both (N, 3), moved by the blended transforms of bones. */
export function blendPoints(
  { starts, bones, weights }: Binding,
  transforms: Float64Array,
  rest: Float64Array,
  displacements: Float32Array,
  points: Float32Array,
): void {
  const vertices = starts.length - 1;
  for (let vertex = 0; vertex < vertices; vertex++) {
    const at = 3 * vertex;
    const x = rest[at] + displacements[at];
    const y = rest[at + 1] + displacements[at + 1];
    const z = rest[at + 2] + displacements[at + 2];
    let a = 0;
    let b = 0;
    let c = 0;
    const end = starts[vertex + 1];
    for (let k = starts[vertex]; k < end; k++) {
      const weight = weights[k];
      const t = 12 * bones[k];
      a += weight * (transforms[t] * x + transforms[t + 1] * y + transforms[t + 2] * z + transforms[t + 3]);
      b += weight * (transforms[t + 4] * x + transforms[t + 5] * y + transforms[t + 6] * z + transforms[t + 7]);
      c += weight * (transforms[t + 8] * x + transforms[t + 9] * y + transforms[t + 10] * z + transforms[t + 11]);
    }
    points[at] = a;
    points[at + 1] = b;
    points[at + 2] = c;
  }
}

/** Write to `normals` the rest normals plus displacements, both (N, 3), by the cofactors of blends: they stay normal. */
export function blendNormals(
  binding: Binding,
  transforms: Float64Array,
  rest: Float32Array,
  displacements: Float32Array,
  normals: Float32Array,
): void {
  const vertices = binding.starts.length - 1;
  const m = blend;
  for (let vertex = 0; vertex < vertices; vertex++) {
    writeBlend(binding, transforms, vertex);
    const at = 3 * vertex;
    const x = rest[at] + displacements[at];
    const y = rest[at + 1] + displacements[at + 1];
    const z = rest[at + 2] + displacements[at + 2];
    const a = (m[5] * m[10] - m[6] * m[9]) * x + (m[6] * m[8] - m[4] * m[10]) * y + (m[4] * m[9] - m[5] * m[8]) * z;
    const b = (m[9] * m[2] - m[10] * m[1]) * x + (m[10] * m[0] - m[8] * m[2]) * y + (m[8] * m[1] - m[9] * m[0]) * z;
    const c = (m[1] * m[6] - m[2] * m[5]) * x + (m[2] * m[4] - m[0] * m[6]) * y + (m[0] * m[5] - m[1] * m[4]) * z;
    const length = Math.sqrt(a * a + b * b + c * c);
    // Where a blend has lost its normal, the one at rest is left.
    const lost = !(length > 1e-300);
    normals[at] = lost ? x : a / length;
    normals[at + 1] = lost ? y : b / length;
    normals[at + 2] = lost ? z : c / length;
  }
}

function writeBlend({ starts, bones, weights }: Binding, transforms: Float64Array, vertex: number): void {
  blend.fill(0);
  for (let k = starts[vertex]; k < starts[vertex + 1]; k++) {
    const weight = weights[k];
    const t = 12 * bones[k];
    for (let i = 0; i < 12; i++) blend[i] += weight * transforms[t + i];
  }
}
