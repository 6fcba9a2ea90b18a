/** Which vertex of the surface is below the pointer. */

import { Vector3, Vector4 } from "three";
import type { Camera, Mesh } from "three";

export interface PickedVertex {
  mesh: Mesh;
  index: number;
  /** Where it is in the world. */
  position: Vector3;
}

/** The corner of a triangle below the pointer, and the depth there. */
interface Hit {
  mesh: Mesh;
  index: number;
  depth: number;
}

/**
 * Return the vertex nearest to the pointer, at x and y from -1 to 1, of the triangle that is seen there. Each vertex is
 * posed once, where a ray would pose all corners of all triangles.
 */
export function pickVertex(meshes: Mesh[], camera: Camera, x: number, y: number): PickedVertex | null {
  let nearest: Hit | null = null;
  for (const mesh of meshes) {
    const hit = mesh.visible ? hitOf(mesh, camera, x, y) : null;
    if (hit && (!nearest || hit.depth < nearest.depth)) nearest = hit;
  }
  if (!nearest) return null;
  const { mesh, index } = nearest;
  return { mesh, index, position: mesh.localToWorld(mesh.getVertexPosition(index, new Vector3())) };
}

function hitOf(mesh: Mesh, camera: Camera, x: number, y: number): Hit | null {
  const { geometry } = mesh;
  const points = projected(mesh, camera);
  const { index } = geometry;
  const corners = (index ?? geometry.getAttribute("position")).count;
  const shares = [0, 0, 0];
  let nearest: Hit | null = null;
  for (let corner = 0; corner + 2 < corners; corner += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => (index ? index.getX(corner + k) : corner + k));
    if (!holds(points, a, b, c, x, y, shares)) continue;
    const depth = shares[0] * points[3 * a + 2] + shares[1] * points[3 * b + 2] + shares[2] * points[3 * c + 2];
    if (nearest && depth >= nearest.depth) continue;
    nearest = { mesh, index: [a, b, c][shares.indexOf(Math.max(...shares))], depth };
  }
  return nearest;
}

/** Of each vertex x, y and the depth in the picture; no numbers where it is behind the camera. */
function projected(mesh: Mesh, camera: Camera): Float32Array {
  const { count } = mesh.geometry.getAttribute("position");
  const points = new Float32Array(3 * count);
  const toPicture = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse).multiply(mesh.matrixWorld);
  const [position, clip] = [new Vector3(), new Vector4()];
  for (let vertex = 0; vertex < count; vertex++) {
    mesh.getVertexPosition(vertex, position);
    clip.set(position.x, position.y, position.z, 1).applyMatrix4(toPicture);
    const scale = clip.w > 0 ? 1 / clip.w : Number.NaN;
    points[3 * vertex] = scale * clip.x;
    points[3 * vertex + 1] = scale * clip.y;
    points[3 * vertex + 2] = scale * clip.z;
  }
  return points;
}

/** Whether a triangle holds a point of the picture; writes the shares of its corners there. */
function holds(points: Float32Array, a: number, b: number, c: number, x: number, y: number, shares: number[]): boolean {
  const [ax, ay] = [points[3 * a] - x, points[3 * a + 1] - y];
  const [bx, by] = [points[3 * b] - x, points[3 * b + 1] - y];
  const [cx, cy] = [points[3 * c] - x, points[3 * c + 1] - y];
  const [u, v, w] = [bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx];
  const area = u + v + w;
  if (!((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0)) || area === 0) return false;
  shares[0] = u / area;
  shares[1] = v / area;
  shares[2] = w / area;
  return true;
}
