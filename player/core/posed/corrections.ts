/** Corrections of learned bones: displacements of the rest shape, of which each bone has an amount, within limits. */

import type { Packed } from "../accessors.js";
import type { Binding } from "../bones/binding.js";
import type { LearnedBones } from "../bones/learned_bones.js";
import type { Corrections } from "../bones/learned_description.js";

/** What all copies of a skin share of its corrections. */
export class CorrectionTable {
  readonly count: number;
  /** (N, K, 3) displacements per unit, and of each correction the length of one unit. */
  readonly values: Packed;
  readonly scales: Float64Array;
  /** The largest displacement of each vertex. */
  readonly limits: Float64Array;

  /**
   * Parameters: displacements (K, N, 3) as a file has them, the bones of each vertex, and what makes limits of the
   * largest displacements at the examples.
   */
  constructor(
    { count, values, scales }: Corrections,
    readonly binding: Binding,
    bones: LearnedBones,
    limits: (largest: Float64Array) => Float64Array,
  ) {
    const vertices = binding.starts.length - 1;
    this.count = count;
    this.scales = scales;
    this.values = values.slice();
    for (let k = 0; k < count; k++) {
      for (let vertex = 0; vertex < vertices; vertex++) {
        const [from, to] = [3 * (vertices * k + vertex), 3 * (count * vertex + k)];
        for (let i = 0; i < 3; i++) this.values[to + i] = values[from + i];
      }
    }
    this.limits = new Float64Array(vertices).fill(Infinity);
    this.limits.set(limits(this.largest(bones)));
  }

  /** The length of the largest displacement of each vertex at the examples. */
  private largest(bones: LearnedBones): Float64Array {
    const displacements = new Float32Array(3 * this.limits.length);
    const state = new CorrectionState(this, bones.amountCount, bones.changed.length, displacements);
    const all = new Uint8Array(bones.changed.length).fill(1);
    const squares = new Float64Array(this.limits.length);
    bones.atSamples((amounts) => {
      state.note(all);
      state.follow(amounts);
      for (let vertex = 0; vertex < squares.length; vertex++) {
        const [x, y, z] = [0, 1, 2].map((i) => displacements[3 * vertex + i]);
        squares[vertex] = Math.max(squares[vertex], x * x + y * y + z * z);
      }
    });
    return squares.map(Math.sqrt);
  }
}

/** The displacements of one copy of a skin, brought up to date where its bones' amounts change. */
export class CorrectionState {
  /** (B, K) the bones' amounts in lengths of units, and of each bone, 1 where they changed and were not followed. */
  private readonly scaled: Float64Array;
  private readonly pending: Uint8Array;

  /** Parameters: how many amounts each bone has, the corrections' first; how many bones; where displacements go. */
  constructor(
    private readonly table: CorrectionTable,
    private readonly amountCount: number,
    bones: number,
    readonly displacements: Float32Array,
  ) {
    this.scaled = new Float64Array(table.count * bones);
    this.pending = new Uint8Array(bones);
  }

  /** Note which bones have other amounts now. */
  note(changed: Uint8Array): void {
    for (let bone = 0; bone < changed.length; bone++) this.pending[bone] |= changed[bone];
  }

  /** Follow amounts of bones, those that were noted. */
  follow(amounts: Float64Array): void {
    const { pending, amountCount } = this;
    const { count, scales, binding } = this.table;
    for (let bone = 0; bone < pending.length; bone++) {
      for (let k = 0; k < count; k++) this.scaled[count * bone + k] = scales[k] * amounts[amountCount * bone + k];
    }
    const { starts, bones } = binding;
    for (let vertex = 0; vertex < starts.length - 1; vertex++) {
      for (let k = starts[vertex]; k < starts[vertex + 1]; k++) {
        if (!pending[bones[k]]) continue;
        this.displace(vertex);
        break;
      }
    }
    pending.fill(0);
  }

  /** Write the displacement of a vertex. Each is limited by itself: one bone's excess must not weaken the others. */
  private displace(vertex: number): void {
    const { table, scaled, displacements } = this;
    const { count, values, limits } = table;
    const { starts, bones, weights } = table.binding;
    const begin = starts[vertex];
    const end = starts[vertex + 1];
    let x = 0;
    let y = 0;
    let z = 0;
    for (let c = 0, at = 3 * count * vertex; c < count; c++, at += 3) {
      let amount = 0;
      for (let k = begin; k < end; k++) amount += weights[k] * scaled[count * bones[k] + c];
      x += amount * values[at];
      y += amount * values[at + 1];
      z += amount * values[at + 2];
    }
    const over = Math.sqrt(x * x + y * y + z * z) / limits[vertex];
    const scale = over > 1 ? 1 / over : 1;
    displacements[3 * vertex] = scale * x;
    displacements[3 * vertex + 1] = scale * y;
    displacements[3 * vertex + 2] = scale * z;
  }
}
