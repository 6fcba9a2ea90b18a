/** Normals of a surface, weighted by area and shared across seams. A vertex with no area around it has (0, 0, 1). */

import type { Groups } from "../weld.js";

/** Writes the normals of a surface of fixed triangles in any shape. */
export class SurfaceNormals {
  private readonly corners: Uint32Array;
  private readonly sums: Float32Array;
  private readonly addAreas: typeof addTriangles;

  /**
   * Parameters: the corners of the triangles; which vertices share a normal, null: none do; whether each four triangles
   * are one that was subdivided, which is faster.
   */
  constructor(
    private readonly triangles: Uint32Array,
    private readonly groups: Groups | null,
    subdivided = false,
  ) {
    this.corners = groups ? triangles.map((vertex) => groups.of[vertex]) : triangles;
    this.sums = new Float32Array(groups ? 3 * groups.count : 0);
    this.addAreas = subdivided ? addFours : addTriangles;
  }

  /** Write the unit normals (N, 3) of points (N, 3). */
  write(points: Float32Array, normals: Float32Array): void {
    const { triangles, corners, groups } = this;
    const sums = groups ? this.sums : normals;
    sums.fill(0);
    this.addAreas(points, triangles, corners, sums);
    toUnits(sums);
    if (groups) spread(sums, groups.of, normals);
  }
}

/** Add to each corner's sum the normal of its triangle, twice as long as its area. */
function addTriangles(points: Float32Array, triangles: Uint32Array, corners: Uint32Array, sums: Float32Array): void {
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ax = points[a];
    const ay = points[a + 1];
    const az = points[a + 2];
    const ux = points[b] - ax;
    const uy = points[b + 1] - ay;
    const uz = points[b + 2] - az;
    const vx = points[c] - ax;
    const vy = points[c + 1] - ay;
    const vz = points[c + 2] - az;
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    add(sums, corners[t], x, y, z);
    add(sums, corners[t + 1], x, y, z);
    add(sums, corners[t + 2], x, y, z);
  }
}

/** The same of triangles that come in fours: a, ab, ca; ab, b, bc; ca, bc, c; ab, bc, ca. Six vertices are read once. */
function addFours(points: Float32Array, triangles: Uint32Array, corners: Uint32Array, sums: Float32Array): void {
  for (let t = 0; t < triangles.length; t += 12) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 4];
    const c = 3 * triangles[t + 8];
    const p = 3 * triangles[t + 1];
    const q = 3 * triangles[t + 5];
    const r = 3 * triangles[t + 2];
    const px = points[p];
    const py = points[p + 1];
    const pz = points[p + 2];
    const rx = points[r];
    const ry = points[r + 1];
    const rz = points[r + 2];
    // Along the inner triangle, from ab to bc and to ca, and from ca to bc.
    const ux = points[q] - px;
    const uy = points[q + 1] - py;
    const uz = points[q + 2] - pz;
    const vx = rx - px;
    const vy = ry - py;
    const vz = rz - pz;
    const wx = ux - vx;
    const wy = uy - vy;
    const wz = uz - vz;
    // From ab to a and to b, and from ca to c.
    const ax = points[a] - px;
    const ay = points[a + 1] - py;
    const az = points[a + 2] - pz;
    const bx = points[b] - px;
    const by = points[b + 1] - py;
    const bz = points[b + 2] - pz;
    const cx = points[c] - rx;
    const cy = points[c + 1] - ry;
    const cz = points[c + 2] - rz;
    const x1 = vy * az - vz * ay;
    const y1 = vz * ax - vx * az;
    const z1 = vx * ay - vy * ax;
    const x2 = by * uz - bz * uy;
    const y2 = bz * ux - bx * uz;
    const z2 = bx * uy - by * ux;
    const x3 = wy * cz - wz * cy;
    const y3 = wz * cx - wx * cz;
    const z3 = wx * cy - wy * cx;
    const x4 = uy * vz - uz * vy;
    const y4 = uz * vx - ux * vz;
    const z4 = ux * vy - uy * vx;
    add(sums, corners[t], x1, y1, z1);
    add(sums, corners[t + 4], x2, y2, z2);
    add(sums, corners[t + 8], x3, y3, z3);
    add(sums, corners[t + 1], x1 + x2 + x4, y1 + y2 + y4, z1 + z2 + z4);
    add(sums, corners[t + 5], x2 + x3 + x4, y2 + y3 + y4, z2 + z3 + z4);
    add(sums, corners[t + 2], x1 + x3 + x4, y1 + y3 + y4, z1 + z3 + z4);
  }
}

function add(sums: Float32Array, corner: number, x: number, y: number, z: number): void {
  const at = 3 * corner;
  sums[at] += x;
  sums[at + 1] += y;
  sums[at + 2] += z;
}

/** Bring vectors (N, 3) to unit length; those of no length become (0, 0, 1). */
export function toUnits(vectors: Float32Array): void {
  for (let k = 0; k < vectors.length; k += 3) {
    const x = vectors[k];
    const y = vectors[k + 1];
    const z = vectors[k + 2];
    const square = x * x + y * y + z * z;
    if (square > 0) {
      const scale = 1 / Math.sqrt(square);
      vectors[k] = scale * x;
      vectors[k + 1] = scale * y;
      vectors[k + 2] = scale * z;
    } else {
      vectors[k] = 0;
      vectors[k + 1] = 0;
      vectors[k + 2] = 1;
    }
  }
}

/** Write for each vertex the vector of its group. */
export function spread(vectors: Float32Array, groups: Uint32Array, out: Float32Array): void {
  for (let vertex = 0; vertex < groups.length; vertex++) {
    const from = 3 * groups[vertex];
    out[3 * vertex] = vectors[from];
    out[3 * vertex + 1] = vectors[from + 1];
    out[3 * vertex + 2] = vectors[from + 2];
  }
}
