/** How far a driver may move one layer: of each vertex the displacement per unit of each coordinate, and its limit. */

/** A component: some vertices of the skin, and 3 numbers for each, which are `scale` units of a coordinate. */
export interface Component {
  column: number;
  scale: number;
  /** What is added to its vertices' numbers. */
  first: number;
  vertices: Uint32Array;
  values: Float32Array;
}

/** Vertices that are looked at together: neighbours in a file are mostly neighbours on the skin, and move alike. */
const BLOCK = 16;

export class LayerBound {
  /** The vertices that it moves, ascending. */
  readonly support: Uint32Array;
  /** Of each vertex of the support where its entries begin, and where the last ones end; the column and length of each. */
  private readonly starts: Uint32Array;
  private readonly columns: Uint32Array;
  private readonly lengths: Float32Array;
  /** Of each vertex of the support, what makes the square of a displacement that of its ratio to the limit. */
  private readonly scales: Float64Array;
  /** Of each column, the longest entry anywhere, over its limit. */
  private readonly longest: Float64Array;
  /** The same for each block: where its columns begin, which these are, and the longest entry of each. */
  private readonly blockStarts: Uint32Array;
  private readonly blockColumns: Uint32Array;
  private readonly blockLongest: Float64Array;

  /**
   * Parameters: its components, the coordinates of a driver with so many columns at its samples, and what makes limits,
   * the most that each vertex may be displaced, of the largest displacements there.
   */
  constructor(
    components: Component[],
    vertices: number,
    columns: number,
    samples: Float64Array,
    limits: (largest: Float64Array, support: Uint32Array) => Float64Array,
  ) {
    [this.support, this.starts, this.columns, this.lengths] = byVertex(components, vertices);
    this.scales = limits(this.largestAtSamples(samples, columns), this.support).map((limit) => 1 / limit ** 2);
    this.longest = new Float64Array(columns);
    [this.blockStarts, this.blockColumns, this.blockLongest] = this.makeBlocks();
  }

  /** The length of the largest displacement of each vertex at samples. */
  private largestAtSamples(samples: Float64Array, columns: number): Float64Array {
    const squares = new Float64Array(this.support.length);
    for (let sample = 0; sample < samples.length; sample += columns) {
      for (let row = 0; row < squares.length; row++) {
        const square = this.square(row, samples, sample);
        if (square > squares[row]) squares[row] = square;
      }
    }
    return squares.map(Math.sqrt);
  }

  /** The squared length of what coordinates, from `start` on, displace a vertex of the support. */
  private square(row: number, coordinates: Float64Array, start: number): number {
    const { starts, columns, lengths } = this;
    let [x, y, z] = [0, 0, 0];
    for (let entry = starts[row]; entry < starts[row + 1]; entry++) {
      const amount = coordinates[start + columns[entry]];
      x += amount * lengths[3 * entry];
      y += amount * lengths[3 * entry + 1];
      z += amount * lengths[3 * entry + 2];
    }
    return x * x + y * y + z * z;
  }

  private lengthOf(entry: number): number {
    const [x, y, z] = [this.lengths[3 * entry], this.lengths[3 * entry + 1], this.lengths[3 * entry + 2]];
    return Math.sqrt(x * x + y * y + z * z);
  }

  private makeBlocks(): [Uint32Array, Uint32Array, Float64Array] {
    const starts = [0];
    const columns: number[] = [];
    const lengths: number[] = [];
    for (let row = 0; row < this.support.length; row += BLOCK) {
      for (const [column, length] of this.longestIn(row, Math.min(row + BLOCK, this.support.length))) {
        columns.push(column);
        lengths.push(length);
        this.longest[column] = Math.max(this.longest[column], length);
      }
      starts.push(columns.length);
    }
    return [Uint32Array.from(starts), Uint32Array.from(columns), Float64Array.from(lengths)];
  }

  /** By column, the longest entry over its limit of some vertices of the support. */
  private longestIn(begin: number, end: number): Map<number, number> {
    const longest = new Map<number, number>();
    for (let row = begin; row < end; row++) {
      for (let entry = this.starts[row]; entry < this.starts[row + 1]; entry++) {
        const column = this.columns[entry];
        const length = this.lengthOf(entry) * Math.sqrt(this.scales[row]);
        longest.set(column, Math.max(length, longest.get(column) ?? 0));
      }
    }
    return longest;
  }

  /**
   * The largest displacement over its limit of coordinates from `start` on, or 1 where that is less. A sum of lengths is
   * never less than the length of a sum: where it is at most 1, for all vertices or for a block, none is looked at.
   */
  ratio(coordinates: Float64Array, start: number): number {
    const { longest, blockStarts, blockColumns, blockLongest } = this;
    let total = 0;
    for (let column = 0; column < longest.length; column++)
      total += Math.abs(coordinates[start + column]) * longest[column];
    if (total <= 1) return 1;
    let largest = 1;
    for (let block = 0; block < blockStarts.length - 1; block++) {
      total = 0;
      for (let k = blockStarts[block]; k < blockStarts[block + 1]; k++) {
        total += Math.abs(coordinates[start + blockColumns[k]]) * blockLongest[k];
      }
      // Nor can a block change anything where a vertex elsewhere is farther beyond its limit already.
      if (total * total <= largest) continue;
      const end = Math.min((block + 1) * BLOCK, this.support.length);
      for (let row = block * BLOCK; row < end; row++) {
        largest = Math.max(largest, this.scales[row] * this.square(row, coordinates, start));
      }
    }
    return Math.sqrt(largest);
  }
}

/** The vertices that components move, ascending, and their entries: where each vertex's begin, their columns and lengths. */
function byVertex(components: Component[], vertices: number): [Uint32Array, Uint32Array, Uint32Array, Float32Array] {
  const next = new Uint32Array(vertices);
  for (const component of components) for (const vertex of component.vertices) next[component.first + vertex]++;
  const support: number[] = [];
  const starts = [0];
  let total = 0;
  next.forEach((count, vertex) => {
    next[vertex] = total;
    if (!count) return;
    total += count;
    support.push(vertex);
    starts.push(total);
  });
  const columns = new Uint32Array(total);
  const lengths = new Float32Array(3 * total);
  for (const { column, scale, first, vertices: moved, values } of components) {
    moved.forEach((vertex, row) => {
      const entry = next[first + vertex]++;
      columns[entry] = column;
      for (let k = 0; k < 3; k++) lengths[3 * entry + k] = values[3 * row + k] / scale;
    });
  }
  return [Uint32Array.from(support), Uint32Array.from(starts), columns, lengths];
}
