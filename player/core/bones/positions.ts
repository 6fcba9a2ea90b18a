/** Positions of learned bones from their rotations: the system of all bones, factored for one weight of the points. */

import type { Pairs } from "./pairs.js";
import { Skyline } from "./skyline.js";
import type { Binding } from "./binding.js";

/** Of the mean diagonal: gives a position to a bone that moves no vertex. */
const RIDGE = 1e-10;

export class BonePositions {
  private readonly matrix: Skyline;
  /** Of each bone: the other bones whose rotation less the identity is multiplied by a lever (3), and adds to it. */
  private readonly starts: Uint32Array;
  private readonly columns: Uint32Array;
  private readonly levers: Float64Array;

  constructor(
    centres: Float64Array,
    pairs: Pairs,
    private readonly pulls: Binding,
    private readonly beta: number,
  ) {
    const { bones } = pairs;
    const rows = Uint32Array.from([...pairs.rows, ...Array(bones).keys()]);
    const columns = Uint32Array.from([...pairs.columns, ...Array(bones).keys()]);
    const trace = pairs.rows.reduce((sum, row, k) => (row === pairs.columns[k] ? sum + pairs.products[k] : sum), 0);
    const ridge = RIDGE * (trace / bones + 1e-300);
    const values = Float64Array.from(rows, (_, k) => pairs.products[k] ?? ridge);
    this.matrix = new Skyline(bones, { rows, columns, values });
    this.starts = new Uint32Array(bones + 1);
    eachWay(pairs, (row) => this.starts[row + 1]++);
    for (let k = 0; k < bones; k++) this.starts[k + 1] += this.starts[k];
    this.columns = new Uint32Array(this.starts[bones]);
    this.levers = new Float64Array(3 * this.starts[bones]);
    const next = this.starts.slice();
    eachWay(pairs, (row, column, pair) => {
      const entry = next[row]++;
      this.columns[entry] = column;
      for (let i = 0; i < 3; i++) {
        const arm = centres[3 * column + i] - centres[i];
        this.levers[3 * entry + i] = arm * pairs.products[pair] - pairs.moments[3 * pair + i];
      }
    });
  }

  /**
   * Write the translations (B, 3) of the bones' centres, for rotations (B, 3, 3) of the bones and translations (M, 3) of
   * the control points from rest. At rest nothing moves, whatever the weights.
   */
  solve(rotations: Float64Array, translations: Float64Array, solved: Float64Array): void {
    const { starts, columns, levers } = this;
    for (let bone = 0; bone < starts.length - 1; bone++) {
      let [a, b, c] = [0, 0, 0];
      for (let entry = starts[bone]; entry < starts[bone + 1]; entry++) {
        const r = 9 * columns[entry];
        const x = levers[3 * entry];
        const y = levers[3 * entry + 1];
        const z = levers[3 * entry + 2];
        a += (rotations[r] - 1) * x + rotations[r + 1] * y + rotations[r + 2] * z;
        b += rotations[r + 3] * x + (rotations[r + 4] - 1) * y + rotations[r + 5] * z;
        c += rotations[r + 6] * x + rotations[r + 7] * y + (rotations[r + 8] - 1) * z;
      }
      solved[3 * bone] = a;
      solved[3 * bone + 1] = b;
      solved[3 * bone + 2] = c;
    }
    this.pull(translations, solved);
    this.matrix.solve(solved);
  }

  private pull(translations: Float64Array, sides: Float64Array): void {
    const { starts, bones, weights } = this.pulls;
    for (let point = 0; point < starts.length - 1; point++) {
      for (let entry = starts[point]; entry < starts[point + 1]; entry++) {
        const weight = this.beta * weights[entry];
        for (let i = 0; i < 3; i++) sides[3 * bones[entry] + i] += weight * translations[3 * point + i];
      }
    }
  }
}

/** Visit each pair of bones in both orders; a bone with itself once. */
function eachWay(pairs: Pairs, visit: (row: number, column: number, pair: number) => void): void {
  pairs.rows.forEach((row, pair) => {
    const column = pairs.columns[pair];
    visit(row, column, pair);
    if (row !== column) visit(column, row, pair);
  });
}
