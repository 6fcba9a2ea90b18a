/** What is sculpted as it is seen: one mesh of a neutral material with smooth normals, tinted where a brush is felt. */

import { BufferAttribute, BufferGeometry, Mesh, MeshLambertMaterial, Raycaster, Vector2, Vector3 } from "three";

import type { Picture } from "../page/drag_motion.js";
import { connected } from "./brushes/connected.js";
import type { Sculpting } from "./sculpting.js";
import { SurfaceTree } from "./surface_tree.js";
import type { Hit } from "./surface_tree.js";

/** The colours of the clay, and of where a brush is felt most: linear, as lights see them. */
const CLAY = [140, 126, 111];
const FELT = [225, 90, 25];

export class Clay {
  readonly mesh: Mesh<BufferGeometry, MeshLambertMaterial>;
  private readonly tree: SurfaceTree;
  private readonly caster = new Raycaster();
  private tinted = new Uint32Array();

  constructor(readonly sculpting: Sculpting) {
    const { points, normals, topology } = sculpting.surface;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(points, 3));
    geometry.setAttribute("normal", new BufferAttribute(normals, 3));
    const colours = new Uint8Array(4 * topology.count).fill(255);
    for (let vertex = 0; vertex < topology.count; vertex++) colours.set(CLAY, 4 * vertex);
    geometry.setAttribute("color", new BufferAttribute(colours, 4, true));
    geometry.setIndex(new BufferAttribute(Uint32Array.from(topology.triangles), 1));
    this.mesh = new Mesh(geometry, new MeshLambertMaterial({ vertexColors: true }));
    this.mesh.frustumCulled = false;
    this.tree = new SurfaceTree(sculpting.surface);
  }

  /** Where the surface is seen at a pixel. */
  meet({ camera, width, height }: Picture, x: number, y: number): Hit | null {
    this.caster.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
    return this.tree.meet(this.caster.ray);
  }

  /** The first vertices within a radius of a hit; `whole`: also those that do not hang together with it. */
  near({ position, corners }: Hit, radius: number, whole: boolean): Uint32Array {
    const near = this.tree.within(position, radius);
    return whole ? near : connected(this.sculpting.surface.topology, near, corners);
  }

  /** The unit normal at a hit. */
  normal({ corners }: Hit): Vector3 {
    const { normals } = this.sculpting.surface;
    const sum = new Vector3();
    for (const corner of corners) sum.add(new Vector3().fromArray(normals, 3 * corner));
    return sum.normalize();
  }

  /** Bring normals, tree and picture up to date with what has moved. */
  settle(): void {
    const moved = this.sculpting.surface.settle();
    if (!moved.length) return;
    this.tree.refit(moved);
    this.mesh.geometry.getAttribute("position").needsUpdate = true;
    this.mesh.geometry.getAttribute("normal").needsUpdate = true;
  }

  /** Tint first vertices (K,) by how much of a brush they feel (K,), and no others. */
  tint(vertices: Uint32Array, shares: Float32Array): void {
    for (const vertex of this.tinted) this.paint(vertex, 0);
    vertices.forEach((vertex, k) => {
      this.paint(vertex, shares[k]);
    });
    this.tinted = vertices.slice();
    this.mesh.geometry.getAttribute("color").needsUpdate = true;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }

  private paint(vertex: number, share: number): void {
    const colours = this.mesh.geometry.getAttribute("color").array;
    for (const member of this.sculpting.surface.topology.members.row(vertex)) {
      for (let k = 0; k < 3; k++) colours[4 * member + k] = CLAY[k] + share * (FELT[k] - CLAY[k]);
    }
  }
}
