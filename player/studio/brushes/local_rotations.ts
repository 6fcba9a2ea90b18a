/** How a pose rotates the surface at each vertex: by the normals, and by the edges in the plane across them. */

import type { SculptSurface } from "./surface.js";

/** The rotation (N, 9), row by row, that takes the neighbourhood of each first vertex of one surface to that of another. */
export function localRotations(rest: SculptSurface, posed: SculptSurface): Float64Array {
  const { firsts, count } = posed.topology;
  const rotations = new Float64Array(9 * count);
  for (const vertex of firsts) {
    const tilt = between(rowOf(rest.normals, vertex), rowOf(posed.normals, vertex));
    rotations.set(multiplied(about(rowOf(posed.normals, vertex), twist(rest, posed, vertex, tilt)), tilt), 9 * vertex);
  }
  return rotations;
}

/** Apply a rotation of the list to a vector (3,); with `back`, its inverse. */
export function rotated(rotations: Float64Array, vertex: number, vector: ArrayLike<number>, back = false): number[] {
  return [0, 1, 2].map((row) => {
    let sum = 0;
    for (let k = 0; k < 3; k++) sum += rotations[9 * vertex + (back ? 3 * k + row : 3 * row + k)] * vector[k];
    return sum;
  });
}

/** The angle about the posed normal that brings the tilted rest edges nearest to the posed ones. */
function twist(rest: SculptSurface, posed: SculptSurface, vertex: number, tilt: Float64Array): number {
  const normal = rowOf(posed.normals, vertex);
  let [sine, cosine] = [0, 0];
  for (const other of posed.topology.beside.row(vertex)) {
    const a = across(rotated(tilt, 0, edge(rest.points, vertex, other)), normal);
    const b = across(edge(posed.points, vertex, other), normal);
    sine += dot(normal, cross(a, b));
    cosine += dot(a, b);
  }
  return sine || cosine ? Math.atan2(sine, cosine) : 0;
}

/** The smallest rotation that takes one unit vector to another. */
function between(from: number[], to: number[]): Float64Array {
  const axis = cross(from, to);
  const length = Math.hypot(...axis);
  if (length > 1e-9) {
    return about(
      axis.map((value) => value / length),
      Math.atan2(length, dot(from, to)),
    );
  }
  if (dot(from, to) >= 0) return about([1, 0, 0], 0);
  // Opposite vectors: half a turn about anything across.
  const side = across(Math.abs(from[0]) < 0.5 ? [1, 0, 0] : [0, 1, 0], from);
  return about(
    side.map((value) => value / Math.hypot(...side)),
    Math.PI,
  );
}

/** The rotation about a unit axis by an angle. */
function about([x, y, z]: number[], angle: number): Float64Array {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const t = 1 - c;
  return Float64Array.of(
    t * x * x + c,
    t * x * y - s * z,
    t * x * z + s * y,
    t * x * y + s * z,
    t * y * y + c,
    t * y * z - s * x,
    t * x * z - s * y,
    t * y * z + s * x,
    t * z * z + c,
  );
}

function multiplied(a: Float64Array, b: Float64Array): Float64Array {
  return Float64Array.from({ length: 9 }, (_, k) => {
    const [row, column] = [3 * Math.floor(k / 3), k % 3];
    return a[row] * b[column] + a[row + 1] * b[column + 3] + a[row + 2] * b[column + 6];
  });
}

function rowOf(rows: Float32Array, vertex: number): number[] {
  return [rows[3 * vertex], rows[3 * vertex + 1], rows[3 * vertex + 2]];
}

function edge(points: Float32Array, from: number, to: number): number[] {
  return [0, 1, 2].map((axis) => points[3 * to + axis] - points[3 * from + axis]);
}

/** The part of a vector across a unit normal. */
function across(vector: number[], normal: number[]): number[] {
  const along = dot(vector, normal);
  return vector.map((value, k) => value - along * normal[k]);
}

function dot(a: number[], b: number[]): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: number[], b: number[]): number[] {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
