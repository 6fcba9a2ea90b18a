/** The rotation nearest a 3x3 matrix: what rigid fits are made of. */

/** Rounds of Jacobi rotations; a 4x4 matrix takes four or five. */
const SWEEPS = 12;

const matrix = new Float64Array(16);
const vectors = new Float64Array(16);

/**
 * Write to `quaternion` (x y z w), from `start` on, the proper rotation R with the largest tr(Rᵀ m) for a matrix m of
 * three rows. It is the eigenvector of the largest eigenvalue of a symmetric 4x4 matrix (Horn 1987), found by Jacobi
 * rotations. Where m leaves it open, one of the best is written.
 */
export function nearestRotation(m: Float64Array, quaternion: Float64Array, start: number): void {
  const k = matrix;
  k[0] = m[0] - m[4] - m[8];
  k[5] = m[4] - m[0] - m[8];
  k[10] = m[8] - m[0] - m[4];
  k[15] = m[0] + m[4] + m[8];
  k[1] = k[4] = m[1] + m[3];
  k[2] = k[8] = m[2] + m[6];
  k[6] = k[9] = m[5] + m[7];
  k[3] = k[12] = m[7] - m[5];
  k[7] = k[13] = m[2] - m[6];
  k[11] = k[14] = m[3] - m[1];
  vectors.fill(0);
  for (let i = 0; i < 16; i += 5) vectors[i] = 1;
  for (let sweep = 0; sweep < SWEEPS && !isDiagonal(); sweep++) {
    for (let i = 0; i < 3; i++) for (let j = i + 1; j < 4; j++) rotate(i, j);
  }
  let best = 0;
  for (let i = 1; i < 4; i++) if (k[5 * i] > k[5 * best]) best = i;
  for (let i = 0; i < 4; i++) quaternion[start + i] = vectors[4 * i + best];
}

function isDiagonal(): boolean {
  let size = 0;
  let off = 0;
  for (let i = 0; i < 4; i++) {
    size += matrix[5 * i] ** 2;
    for (let j = 0; j < i; j++) off += matrix[4 * i + j] ** 2;
  }
  return off <= 1e-30 * (size + off);
}

/** Bring the entry (i, j) to zero by a rotation, which is added to the vectors. */
function rotate(i: number, j: number): void {
  const k = matrix;
  const entry = k[4 * i + j];
  if (entry === 0) return;
  const half = (k[5 * j] - k[5 * i]) / (2 * entry);
  const t = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.sqrt(half * half + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let a = 0; a < 16; a += 4) {
    const left = k[a + i];
    const right = k[a + j];
    k[a + i] = c * left - s * right;
    k[a + j] = s * left + c * right;
  }
  for (let a = 0; a < 4; a++) {
    let left = k[4 * i + a];
    let right = k[4 * j + a];
    k[4 * i + a] = c * left - s * right;
    k[4 * j + a] = s * left + c * right;
    left = vectors[4 * a + i];
    right = vectors[4 * a + j];
    vectors[4 * a + i] = c * left - s * right;
    vectors[4 * a + j] = s * left + c * right;
  }
}

/** Write the matrix, three rows of three from `start` on, of the unit quaternion that begins at `from`. */
export function writeMatrix(quaternions: Float64Array, from: number, matrices: Float64Array, start: number): void {
  const x = quaternions[from];
  const y = quaternions[from + 1];
  const z = quaternions[from + 2];
  const w = quaternions[from + 3];
  matrices[start] = 1 - 2 * (y * y + z * z);
  matrices[start + 1] = 2 * (x * y - z * w);
  matrices[start + 2] = 2 * (x * z + y * w);
  matrices[start + 3] = 2 * (x * y + z * w);
  matrices[start + 4] = 1 - 2 * (x * x + z * z);
  matrices[start + 5] = 2 * (y * z - x * w);
  matrices[start + 6] = 2 * (x * z - y * w);
  matrices[start + 7] = 2 * (y * z + x * w);
  matrices[start + 8] = 1 - 2 * (x * x + y * y);
}
