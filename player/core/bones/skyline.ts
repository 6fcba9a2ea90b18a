/**
 * A sparse symmetric matrix, factored once and solved often. Rows are ordered so that what is not zero lies near the
 * diagonal (reverse Cuthill-McKee), and of each row of the factor only what follows its first such number is stored.
 */

/** The lower triangle of a symmetric matrix: entries in any order, each pair of row and column once. */
export interface SymmetricEntries {
  rows: Uint32Array;
  columns: Uint32Array;
  values: Float64Array;
}

export class Skyline {
  /** Of each row of the matrix, its number in the order of the factor. */
  private readonly places: Uint32Array;
  /** Of each row of the factor its first column, and where the numbers of row k would begin if it had all columns. */
  private readonly firsts: Uint32Array;
  private readonly starts: Int32Array;
  /** The rows of the factor L, matrix = L Lᵀ, and the inverse of its diagonal. */
  private readonly factor: Float64Array;
  private readonly inverses: Float64Array;
  private readonly solution: Float64Array;

  /** Factor a matrix of `count` rows; throws where it is not positive definite. */
  constructor(count: number, entries: SymmetricEntries) {
    this.places = placesOf(count, entries);
    this.firsts = Uint32Array.from({ length: count }, (_, k) => k);
    this.starts = new Int32Array(count);
    this.inverses = new Float64Array(count);
    this.solution = new Float64Array(3 * count);
    this.factor = this.filled(entries);
    for (let row = 0; row < count; row++) this.factorRow(row);
  }

  /** The matrix in the places of its factor. */
  private filled({ rows, columns, values }: SymmetricEntries): Float64Array {
    const { places, firsts, starts } = this;
    rows.forEach((row, k) => {
      const [a, b] = [places[row], places[columns[k]]];
      firsts[Math.max(a, b)] = Math.min(firsts[Math.max(a, b)], a, b);
    });
    let total = 0;
    firsts.forEach((first, row) => {
      starts[row] = total - first;
      total += row - first + 1;
    });
    const factor = new Float64Array(total);
    rows.forEach((row, k) => {
      const [a, b] = [places[row], places[columns[k]]];
      factor[starts[Math.max(a, b)] + Math.min(a, b)] += values[k];
    });
    return factor;
  }

  private factorRow(row: number): void {
    const { factor, firsts, starts, inverses } = this;
    const here = starts[row];
    let diagonal = factor[here + row];
    for (let column = firsts[row]; column < row; column++) {
      const there = starts[column];
      let value = factor[here + column];
      for (let k = Math.max(firsts[row], firsts[column]); k < column; k++)
        value -= factor[here + k] * factor[there + k];
      value *= inverses[column];
      factor[here + column] = value;
      diagonal -= value * value;
    }
    if (!(diagonal > 0 && diagonal < Infinity)) {
      throw new Error("learned bones: their positions are undetermined by the weights and points");
    }
    inverses[row] = 1 / Math.sqrt(diagonal);
  }

  /** Replace three right sides, `sides` (count, 3), by their solutions. */
  solve(sides: Float64Array): void {
    const { places, firsts, starts, factor, inverses, solution } = this;
    const count = places.length;
    for (let k = 0; k < count; k++) {
      for (let i = 0; i < 3; i++) solution[3 * places[k] + i] = sides[3 * k + i];
    }
    for (let row = 0; row < count; row++) {
      let x = solution[3 * row];
      let y = solution[3 * row + 1];
      let z = solution[3 * row + 2];
      for (let k = firsts[row], at = starts[row] + k; k < row; k++, at++) {
        x -= factor[at] * solution[3 * k];
        y -= factor[at] * solution[3 * k + 1];
        z -= factor[at] * solution[3 * k + 2];
      }
      solution[3 * row] = x * inverses[row];
      solution[3 * row + 1] = y * inverses[row];
      solution[3 * row + 2] = z * inverses[row];
    }
    for (let row = count - 1; row >= 0; row--) {
      const x = (solution[3 * row] *= inverses[row]);
      const y = (solution[3 * row + 1] *= inverses[row]);
      const z = (solution[3 * row + 2] *= inverses[row]);
      for (let k = firsts[row], at = starts[row] + k; k < row; k++, at++) {
        solution[3 * k] -= factor[at] * x;
        solution[3 * k + 1] -= factor[at] * y;
        solution[3 * k + 2] -= factor[at] * z;
      }
    }
    for (let k = 0; k < count; k++) {
      for (let i = 0; i < 3; i++) sides[3 * k + i] = solution[3 * places[k] + i];
    }
  }
}

/** Of each row of a matrix its number in the reverse order of Cuthill and McKee. */
export function placesOf(count: number, { rows, columns }: SymmetricEntries): Uint32Array {
  const neighbours = Array.from({ length: count }, (): number[] => []);
  rows.forEach((row, k) => {
    if (row === columns[k]) return;
    neighbours[row].push(columns[k]);
    neighbours[columns[k]].push(row);
  });
  const degree = (row: number) => neighbours[row].length;
  const seen = new Uint8Array(count);
  const order: number[] = [];
  for (const row of Array.from(neighbours.keys()).sort((a, b) => degree(a) - degree(b))) {
    if (seen[row]) continue;
    const visited = reached(row, neighbours);
    // Begun at its far end, the order has narrower steps.
    for (const found of reached(visited[visited.length - 1], neighbours)) {
      seen[found] = 1;
      order.push(found);
    }
  }
  const places = new Uint32Array(count);
  order.forEach((row, k) => {
    places[row] = count - 1 - k;
  });
  return places;
}

/** The rows that are connected with one, step by step, those with the fewest neighbours first. */
function reached(start: number, neighbours: number[][]): number[] {
  const seen = new Set([start]);
  const order = [start];
  for (let k = 0; k < order.length; k++) {
    const next = neighbours[order[k]].filter((row) => !seen.has(row));
    next.sort((a, b) => neighbours[a].length - neighbours[b].length);
    for (const row of next) {
      seen.add(row);
      order.push(row);
    }
  }
  return order;
}
