/**
 * The system that gives the positions of learned bones, for any weight `beta` of the control points.
 *
 * Least squares: every skinned edge should be the rest edge rotated by the bones at its ends, and with weight `beta` every
 * control point should be at its target. A skinned vertex is Σ w (R (v - o) + p) over its bones, o their centres and p
 * their positions. So with s the difference of a bone's weights at the ends of an edge, and m the edge's middle, an edge
 * asks for Σ s p = Σ s R (o - m); a control point at v asks for Σ w p = Σ w R (o - v) + its target. Ties count as weak
 * edges: they hold the pieces of the surface that have no control point.
 */

import type { Edges } from "../posed/edges.js";
import { Pairs } from "./pairs.js";
import { BonePositions } from "./positions.js";
import type { Binding } from "./binding.js";

/** The weight of a tie, that of an edge being 1. */
const TIE = 0.1;

export class BoneSystem {
  private readonly edges: Pairs;
  private readonly points: Pairs;
  /** The bones of each control point. */
  private readonly pulls: Binding;

  /**
   * Parameters: centres (B, 3), the bones of each vertex, the rest shape (N, 3), its edges, the vertices of the control
   * points, and those of ties, two each.
   */
  constructor(
    private readonly centres: Float64Array,
    binding: Binding,
    private readonly rest: Float64Array,
    edges: Edges,
    points: Uint32Array,
    ties: Uint32Array,
  ) {
    const bones = centres.length / 3;
    this.edges = new Pairs(bones);
    this.points = new Pairs(bones);
    this.pulls = rowsOf(binding, points);
    const equation = new Equation(binding, bones);
    for (let edge = 0; edge < edges.count; edge++) this.addEdge(equation, edges.lows[edge], edges.highs[edge], 1);
    for (let tie = 0; tie < ties.length; tie += 2) this.addEdge(equation, ties[tie], ties[tie + 1], TIE);
    for (const point of points) {
      equation.begin();
      equation.add(point, 1);
      const [x, y, z] = [0, 1, 2].map((k) => rest[3 * point + k] - centres[k]);
      this.points.add(equation.count, equation.bones, equation.signed, x, y, z);
    }
  }

  /** Add an edge between two vertices. Points are seen from the first bone: far from the origin, too, no digits are lost. */
  private addEdge(equation: Equation, first: number, second: number, weight: number): void {
    if (first === second) return;
    const { rest, centres } = this;
    const [i, j] = [3 * first, 3 * second];
    const root = Math.sqrt(weight);
    equation.begin();
    equation.add(first, root);
    equation.add(second, -root);
    const x = 0.5 * (rest[i] + rest[j]) - centres[0];
    const y = 0.5 * (rest[i + 1] + rest[j + 1]) - centres[1];
    const z = 0.5 * (rest[i + 2] + rest[j + 2]) - centres[2];
    this.edges.add(equation.count, equation.bones, equation.signed, x, y, z);
  }

  /** Return what solves it for a weight of the control points. */
  factored(beta: number): BonePositions {
    const pairs = new Pairs(this.centres.length / 3);
    pairs.addAll(this.edges, 1);
    pairs.addAll(this.points, beta);
    return new BonePositions(this.centres, pairs, this.pulls, beta);
  }
}

/** The coefficients of one equation: each bone once, those that are zero left out. */
class Equation {
  count = 0;
  readonly bones: Uint32Array;
  readonly signed: Float64Array;
  /** Where each bone stands in the equation, or -1. */
  private readonly places: Int32Array;

  constructor(
    private readonly binding: Binding,
    bones: number,
  ) {
    this.bones = new Uint32Array(bones);
    this.signed = new Float64Array(bones);
    this.places = new Int32Array(bones).fill(-1);
  }

  begin(): void {
    for (let k = 0; k < this.count; k++) this.places[this.bones[k]] = -1;
    this.count = 0;
  }

  /** Add the bones of a vertex, their weights times `sign`. */
  add(vertex: number, sign: number): void {
    const { starts, bones, weights } = this.binding;
    for (let k = starts[vertex]; k < starts[vertex + 1]; k++) {
      const bone = bones[k];
      if (this.places[bone] < 0) {
        this.places[bone] = this.count;
        this.signed[this.count] = 0;
        this.bones[this.count++] = bone;
      }
      this.signed[this.places[bone]] += sign * weights[k];
    }
  }
}

/** The bones of some vertices. */
function rowsOf({ starts, bones, weights }: Binding, vertices: Uint32Array): Binding {
  const ends = Uint32Array.from({ length: vertices.length + 1 }, () => 0);
  const entries: number[] = [];
  vertices.forEach((vertex, k) => {
    for (let entry = starts[vertex]; entry < starts[vertex + 1]; entry++) entries.push(entry);
    ends[k + 1] = entries.length;
  });
  return {
    starts: ends,
    bones: Uint16Array.from(entries, (entry) => bones[entry]),
    weights: Float32Array.from(entries, (entry) => weights[entry]),
  };
}
