/**
 * Mirrored strokes: what a brush does to a vertex is done to its partner too. A displacement is rotated from the pose
 * back to rest, mirrored there in x = 0, and rotated into the pose at the partner: so it holds where only one arm bends.
 */

import type { Felt } from "./dab.js";
import { localRotations, rotated } from "./local_rotations.js";
import { partners } from "./partners.js";
import { SculptSurface } from "./surface.js";

/** Vertices (K,) and how far each moves (K, 3). */
export interface Moves {
  vertices: Uint32Array;
  displacements: Float32Array;
}

export class Mirror {
  /** The partner (N,) of each first vertex; -1 where there is none. */
  readonly partner: Int32Array;
  /** The part of the vertices that have a partner. */
  readonly matched: number;
  private readonly rotations: Float64Array;

  /** @param rest (N, 3), mirrored in x = 0; the surface is posed, and not sculpted yet */
  constructor(rest: Float32Array, surface: SculptSurface) {
    const { topology } = surface;
    this.partner = partners(rest, topology);
    this.matched = topology.firsts.filter((vertex) => this.partner[vertex] >= 0).length / topology.firsts.length;
    this.rotations = localRotations(new SculptSurface(rest, topology), surface);
  }

  /** Where a dab and its mirror image are felt. */
  felt(dab: Felt): Felt {
    const { vertices, shares } = this.sides(dab);
    return { vertices, falloff: Float32Array.from(shares, ([own, other]) => Math.max(own, other)) };
  }

  /** What a dab does on both sides. Where both sides meet they are blended by falloff, so that nothing moves twice. */
  both(dab: Felt, displacements: Float32Array): Moves {
    const { vertices, slots, shares } = this.sides(dab);
    const blended = new Float32Array(3 * vertices.length);
    vertices.forEach((vertex, k) => {
      const [own, other] = shares[k];
      const total = own + other || 1;
      const add = (moved: ArrayLike<number>, share: number) => {
        for (let axis = 0; axis < 3; axis++) blended[3 * k + axis] += (share / total) * moved[axis];
      };
      const row = (slot: number) => displacements.subarray(3 * slot, 3 * slot + 3);
      if (own) add(row(slots.get(vertex) ?? 0), own);
      const partner = this.partner[vertex];
      if (other) add(this.mirrored(partner, vertex, row(slots.get(partner) ?? 0)), other);
    });
    return { vertices, displacements: blended };
  }

  /** The vertices on both sides, where the dab has them, and how much of it each feels: directly, and by its partner. */
  private sides({ vertices, falloff }: Felt) {
    const slots = new Map<number, number>();
    vertices.forEach((vertex, k) => {
      slots.set(vertex, k);
    });
    const share = (vertex: number) => falloff[slots.get(vertex) ?? -1] ?? 0;
    const beyond = vertices.map((vertex) => Math.max(0, this.partner[vertex]));
    const others = beyond.filter((other, k) => this.partner[vertices[k]] >= 0 && !slots.has(other));
    const all = Uint32Array.from([...vertices, ...others]);
    const shares = Array.from(all, (vertex): [number, number] => [share(vertex), share(this.partner[vertex])]);
    return { vertices: all, slots, shares };
  }

  private mirrored(from: number, to: number, displacement: Float32Array): number[] {
    const [x, y, z] = rotated(this.rotations, from, displacement, true);
    return rotated(this.rotations, to, [-x, y, z]);
  }
}
