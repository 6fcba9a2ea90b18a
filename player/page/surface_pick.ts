/** Which place of the posed surface is below the pointer, and which joint moves it there most. */

import { type Ray, Vector3 } from "three";
import type { BufferAttribute, Mesh, Object3D, SkinnedMesh } from "three";

import type { PoseSkin } from "../three/index.js";

/** A place on the surface. */
export interface Hit {
  mesh: Mesh;
  /** The vertices of its triangle, and how much of each the place is. */
  vertices: [number, number, number];
  shares: [number, number, number];
  /** In the world. */
  position: Vector3;
}

export class SurfacePick {
  /** Positions of the vertices of each mesh, in the world; they stay as long as nothing moves. */
  private positions: Float64Array[] = [];
  private measured = "";

  constructor(
    private readonly skin: PoseSkin,
    private readonly meshes: readonly Mesh[],
  ) {}

  /** The first place that a ray meets, or null. three.js' own ray casts pose every triangle's corners anew: too slow. */
  at(ray: Ray): Hit | null {
    this.measure();
    let [nearest, least] = [null as Hit | null, Infinity];
    this.meshes.forEach((mesh, k) => {
      if (!mesh.visible) return;
      const triangle = firstTriangle(ray, mesh, this.positions[k], least);
      if (!triangle) return;
      least = triangle.distance;
      const { vertices, shares } = triangle;
      nearest = { mesh, vertices, shares, position: ray.at(least, new Vector3()) };
    });
    return nearest;
  }

  /** The number of the joint that moves the surface most at a place; -1 where the surface does not say. */
  jointAt({ mesh, vertices, shares }: Hit): number {
    const { skinIndex, skinWeight } = mesh.geometry.attributes;
    if (!skinIndex || !skinWeight) return -1;
    const weights = new Map<Object3D, number>();
    vertices.forEach((vertex, corner) => {
      for (let k = 0; k < skinIndex.itemSize; k++) {
        const bone = (mesh as SkinnedMesh).skeleton.bones[skinIndex.getComponent(vertex, k)];
        const weight = shares[corner] * skinWeight.getComponent(vertex, k);
        weights.set(bone, (weights.get(bone) ?? 0) + weight);
      }
    });
    const [most] = [...weights].sort((a, b) => b[1] - a[1]);
    return most ? this.skin.bones.indexOf(most[0]) : -1;
  }

  /** The numbers of the joints that move the surface; where it does not say, of all joints. */
  get joints(): Set<number> {
    const { bones } = this.skin;
    const moving = new Set<Object3D | undefined>();
    for (const mesh of this.meshes) {
      const { skinIndex, skinWeight } = mesh.geometry.attributes;
      if (!skinIndex || !skinWeight) return new Set(bones.keys());
      for (let k = 0; k < skinIndex.count * skinIndex.itemSize; k++) {
        const [vertex, entry] = [Math.floor(k / skinIndex.itemSize), k % skinIndex.itemSize];
        if (!skinWeight.getComponent(vertex, entry)) continue;
        moving.add((mesh as SkinnedMesh).skeleton.bones[skinIndex.getComponent(vertex, entry)]);
      }
    }
    return new Set([...bones.keys()].filter((joint) => moving.has(bones[joint])));
  }

  /** Find where all vertices are, if anything has moved. */
  private measure(): void {
    const pose = this.skin.bones.flatMap(({ matrixWorld }) => matrixWorld.elements);
    const now = JSON.stringify([pose, this.skin.controls, this.skin.enabled, this.skin.detail, this.skin.components]);
    if (now === this.measured) return;
    this.measured = now;
    const position = new Vector3();
    this.positions = this.meshes.map((mesh) => {
      const { count } = mesh.geometry.getAttribute("position");
      const positions = new Float64Array(3 * count);
      for (let k = 0; k < count; k++) {
        mesh.localToWorld(mesh.getVertexPosition(k, position)).toArray(positions, 3 * k);
      }
      return positions;
    });
  }
}

/** The triangle that a ray meets first, nearer than so far away; by Möller and Trumbore. */
function firstTriangle(ray: Ray, { geometry }: Mesh, positions: Float64Array, within: number) {
  const index = geometry.index as BufferAttribute | null;
  const corners = index?.count ?? positions.length / 3;
  const corner = index ? (k: number) => index.array[k] : (k: number) => k;
  const { x: ox, y: oy, z: oz } = ray.origin;
  const { x: dx, y: dy, z: dz } = ray.direction;
  let [distance, first, shareB, shareC] = [within, -1, 0, 0];
  for (let k = 0; k < corners; k += 3) {
    const [a, b, c] = [3 * corner(k), 3 * corner(k + 1), 3 * corner(k + 2)];
    const [ax, ay, az] = [positions[a], positions[a + 1], positions[a + 2]];
    const [ux, uy, uz] = [positions[b] - ax, positions[b + 1] - ay, positions[b + 2] - az];
    const [vx, vy, vz] = [positions[c] - ax, positions[c + 1] - ay, positions[c + 2] - az];
    const [px, py, pz] = [dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx];
    const determinant = ux * px + uy * py + uz * pz;
    if (determinant === 0) continue;
    const [tx, ty, tz] = [ox - ax, oy - ay, oz - az];
    const u = (tx * px + ty * py + tz * pz) / determinant;
    if (u < 0 || u > 1) continue;
    const [qx, qy, qz] = [ty * uz - tz * uy, tz * ux - tx * uz, tx * uy - ty * ux];
    const v = (dx * qx + dy * qy + dz * qz) / determinant;
    const t = (vx * qx + vy * qy + vz * qz) / determinant;
    if (v >= 0 && u + v <= 1 && t > 0 && t < distance) [distance, first, shareB, shareC] = [t, k, u, v];
  }
  if (first < 0) return null;
  const vertices = [corner(first), corner(first + 1), corner(first + 2)] as [number, number, number];
  return { distance, vertices, shares: [1 - shareB - shareC, shareB, shareC] as [number, number, number] };
}
