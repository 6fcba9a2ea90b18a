/** Where a surface is: its extent at rest, and a box that holds it in any pose, found without posing its vertices. */

import { Box3, Vector3 } from "three";
import type { Bone, Mesh, SkinnedMesh } from "three";

import { positionsOf } from "./positions.js";

/** Vertices of a mesh whose distance to the bones is measured. */
const MOST_VERTICES = 2000;

/** A mesh that bones move, and how far its vertices are from them at most. */
interface Boned {
  bones: Bone[];
  margin: number;
}

export class Extent {
  /** The box around all vertices at rest, in the world. */
  readonly rest = new Box3();
  private readonly boned: Boned[] = [];
  private readonly others: Mesh[] = [];
  private readonly box = new Box3();

  /** Parameters: meshes at rest, whose matrices are up to date. */
  constructor(meshes: Mesh[]) {
    for (const mesh of meshes) {
      for (const position of positionsOf(mesh)) this.rest.expandByPoint(position);
      if ((mesh as SkinnedMesh).isSkinnedMesh) this.boned.push(measured(mesh as SkinnedMesh));
      else this.others.push(mesh);
    }
    if (this.rest.isEmpty()) this.rest.set(new Vector3(), new Vector3());
  }

  /** The longest side of the box at rest. */
  get size(): number {
    return Math.max(...this.rest.getSize(new Vector3()).toArray());
  }

  /** A box that holds the surface in the pose of the bones' matrices; the next call overwrites it. */
  now(): Box3 {
    const { box } = this;
    box.makeEmpty();
    const [part, centre] = [new Box3(), new Vector3()];
    for (const { bones, margin } of this.boned) {
      part.makeEmpty();
      for (const bone of bones) part.expandByPoint(centre.setFromMatrixPosition(bone.matrixWorld));
      box.union(part.expandByScalar(margin));
    }
    for (const { geometry, matrixWorld } of this.others) {
      if (!geometry.boundingBox) geometry.computeBoundingBox();
      if (geometry.boundingBox) box.union(part.copy(geometry.boundingBox).applyMatrix4(matrixWorld));
    }
    return box;
  }
}

function measured(mesh: SkinnedMesh): Boned {
  const { bones } = mesh.skeleton;
  const centres = bones.map(({ matrixWorld }) => new Vector3().setFromMatrixPosition(matrixWorld));
  let square = 0;
  for (const position of positionsOf(mesh, MOST_VERTICES)) {
    const nearest = centres.reduce((least, centre) => Math.min(least, centre.distanceToSquared(position)), Infinity);
    if (nearest < Infinity) square = Math.max(square, nearest);
  }
  return { bones, margin: Math.sqrt(square) };
}
