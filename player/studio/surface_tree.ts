/** Where a ray meets the surface, and what is within a radius: a tree of boxes, refitted only where something moved. */

import { BufferGeometry, type Box3, Sphere, Vector3 } from "three";
import { BufferAttribute, DoubleSide } from "three";
import type { Ray } from "three";
import { INTERSECTED, MeshBVH, NOT_INTERSECTED } from "three-mesh-bvh";

import { Rows } from "./brushes/rows.js";
import type { SculptSurface } from "./brushes/surface.js";

/** Where a ray met the surface. */
export interface Hit {
  position: Vector3;
  /** The first vertices of the triangle that was met. */
  corners: number[];
}

export class SurfaceTree {
  private readonly tree: MeshBVH;
  /** The node above each node; of the root -1. */
  private readonly above: Int32Array;
  /** The leaves with each first vertex. */
  private readonly leaves: Rows;
  /** The step in which a vertex was seen last. */
  private readonly seen: Uint32Array;
  private step = 0;

  constructor(private readonly surface: SculptSurface) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(surface.points, 3));
    // The tree sorts its triangles: these are its own.
    geometry.setIndex(new BufferAttribute(Uint32Array.from(surface.topology.triangles), 1));
    this.tree = new MeshBVH(geometry);
    this.seen = new Uint32Array(surface.topology.count);
    const { above, leaves } = this.readNodes();
    this.above = above;
    this.leaves = leaves;
  }

  /** Where a ray first meets the surface, from either side. */
  meet(ray: Ray): Hit | null {
    const hit = this.tree.raycastFirst(ray, DoubleSide);
    if (!hit?.face) return null;
    const { weld } = this.surface.topology;
    return { position: hit.point.clone(), corners: [hit.face.a, hit.face.b, hit.face.c].map((corner) => weld[corner]) };
  }

  /** The first vertices within a radius of a position. */
  within(position: Vector3, radius: number): Uint32Array {
    const sphere = new Sphere(position, radius);
    const near: number[] = [];
    const point = new Vector3();
    this.step++;
    this.tree.shapecast({
      intersectsBounds: (box: Box3) => (sphere.intersectsBox(box) ? INTERSECTED : NOT_INTERSECTED),
      intersectsRange: (offset: number, count: number) => {
        this.eachVertex(offset, count, (vertex) => {
          if (sphere.containsPoint(point.fromArray(this.surface.points, 3 * vertex))) near.push(vertex);
        });
        return false;
      },
    });
    return Uint32Array.from(near);
  }

  /** Bring the boxes around first vertices that moved up to date. */
  refit(moved: Uint32Array): void {
    if (!moved.length) return;
    const nodes = new Set<number>();
    for (const vertex of moved) {
      for (const leaf of this.leaves.row(vertex)) {
        for (let node = leaf; node >= 0 && !nodes.has(node); node = this.above[node]) nodes.add(node);
      }
    }
    this.tree.refit(nodes);
  }

  /** Walk over all nodes: which is above which, and which leaves have which vertices. */
  private readNodes(): { above: Int32Array; leaves: Rows } {
    const above = [-1];
    const path = [0];
    const [vertices, leaves]: [number[], number[]] = [[], []];
    this.tree.shapecast({
      intersectsBounds: (_box: Box3, _leaf: boolean, _score: number | undefined, depth: number, node: number) => {
        above[node] = path[depth - 1];
        path[depth] = node;
        return INTERSECTED;
      },
      intersectsRange: (offset: number, count: number, _contained: boolean, _depth: number, node: number) => {
        this.step++;
        this.eachVertex(offset, count, (vertex) => {
          vertices.push(vertex);
          leaves.push(node);
        });
        return false;
      },
    });
    return { above: Int32Array.from(above), leaves: Rows.of(this.seen.length, vertices, leaves) };
  }

  /** The first vertices of some triangles of the tree, each once in a step. */
  private eachVertex(offset: number, count: number, visit: (vertex: number) => void): void {
    const { weld } = this.surface.topology;
    const corners = this.tree.geometry.index?.array ?? [];
    for (let k = 3 * offset; k < 3 * (offset + count); k++) {
      const vertex = weld[corners[k]];
      if (this.seen[vertex] === this.step) continue;
      this.seen[vertex] = this.step;
      visit(vertex);
    }
  }
}
