// Shapes to sculpt on.
import { SculptSurface } from "../../studio/brushes/surface.ts";
import { Topology } from "../../studio/brushes/topology.ts";

/** A square sheet from -1 to 1 in x and z, facing y: points (N, 3) and triangles (T, 3). */
export function sheet(cells = 20, height = () => 0) {
  const [points, triangles] = [[], []];
  for (let i = 0; i <= cells; i++) {
    for (let j = 0; j <= cells; j++) {
      const [x, z] = [(2 * i) / cells - 1, (2 * j) / cells - 1];
      points.push(x, height(x, z), z);
      const at = i * (cells + 1) + j;
      if (i < cells && j < cells) triangles.push(at, at + 1, at + cells + 2, at, at + cells + 2, at + cells + 1);
    }
  }
  return { points: Float32Array.from(points), triangles: Int32Array.from(triangles) };
}

/** A unit sphere with a seam: vertices at x = z = 0 and along one meridian are there twice or more. */
export function sphere(rings = 16, sides = 24) {
  const [points, triangles] = [[], []];
  for (let i = 0; i <= rings; i++) {
    for (let j = 0; j <= sides; j++) {
      // The last meridian is exactly the first.
      const [polar, azimuth] = [(Math.PI * i) / rings, (2 * Math.PI * (j % sides)) / sides];
      const radius = i % rings ? Math.sin(polar) : 0;
      points.push(radius && radius * Math.cos(azimuth), Math.cos(polar), radius && radius * Math.sin(azimuth));
      const at = i * (sides + 1) + j;
      if (i < rings && j < sides) triangles.push(at, at + 1, at + sides + 2, at, at + sides + 2, at + sides + 1);
    }
  }
  return { points: Float32Array.from(points), triangles: Int32Array.from(triangles) };
}

/** Of each vertex, the first one at its position. */
export function weldOf(points) {
  const firsts = new Map();
  return Int32Array.from({ length: points.length / 3 }, (_, vertex) => {
    const name = points.slice(3 * vertex, 3 * vertex + 3).join();
    if (!firsts.has(name)) firsts.set(name, vertex);
    return firsts.get(name);
  });
}

/** A surface of a shape. */
export function surfaceOf({ points, triangles }, posed = points) {
  return new SculptSurface(posed.slice(), new Topology(triangles, weldOf(points)));
}

/** Row k of points (N, 3). */
export function row(points, k) {
  return [...points.subarray(3 * k, 3 * k + 3)];
}

/** The length of the difference of two vectors. */
export function distance(a, b) {
  return Math.hypot(...a.map((value, axis) => value - b[axis]));
}

/** The dab of a brush at a position, over all vertices in its radius. */
export function dabAt(surface, centre, radius, { strength = 1, motion = [0, 0, 0] } = {}) {
  const { firsts } = surface.topology;
  const vertices = firsts.filter((vertex) => distance(row(surface.points, vertex), centre) <= radius);
  const near = Array.from(vertices, (vertex) => 1 - distance(row(surface.points, vertex), centre) / radius);
  return { vertices, falloff: Float32Array.from(near, (p) => p * p * (3 - 2 * p)), radius, strength, motion };
}
