/** The edges of a triangle surface, in order of their lower and then their higher end. */

/** Lists up to this length are sorted in place, one number after the other. */
const SHORT = 32;

export class Edges {
  readonly count: number;
  /** The lower and the higher end of each edge. */
  readonly lows: Uint32Array;
  readonly highs: Uint32Array;
  /** Where the edges of each lower end begin. */
  private readonly starts: Uint32Array;

  /** Parameters: the corners of the triangles, three each, and how many vertices there are. */
  constructor(triangles: Uint32Array, vertices: number) {
    this.starts = new Uint32Array(vertices + 1);
    const bounds = new Uint32Array(vertices + 1);
    eachSide(triangles, (low) => bounds[low + 1]++);
    for (let k = 0; k < vertices; k++) bounds[k + 1] += bounds[k];
    const ends = new Uint32Array(triangles.length);
    const next = bounds.slice();
    eachSide(triangles, (low, high) => {
      ends[next[low]++] = high;
    });
    let count = 0;
    for (let low = 0; low < vertices; low++) {
      sort(ends, bounds[low], bounds[low + 1]);
      this.starts[low] = count;
      for (let k = bounds[low]; k < bounds[low + 1]; k++) {
        if (k === bounds[low] || ends[k] !== ends[k - 1]) ends[count++] = ends[k];
      }
    }
    this.starts[vertices] = count;
    this.count = count;
    this.highs = ends.slice(0, count);
    this.lows = new Uint32Array(count);
    for (let low = 0; low < vertices; low++) this.lows.fill(low, this.starts[low], this.starts[low + 1]);
  }

  /** The number of the edge between two vertices that share one. */
  find(a: number, b: number): number {
    const low = Math.min(a, b);
    const high = Math.max(a, b);
    let first = this.starts[low];
    let last = this.starts[low + 1] - 1;
    while (first < last) {
      const middle = (first + last) >> 1;
      if (this.highs[middle] < high) first = middle + 1;
      else last = middle;
    }
    return first;
  }
}

function eachSide(triangles: Uint32Array, visit: (low: number, high: number) => void): void {
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [triangles[k], triangles[k + 1], triangles[k + 2]];
    visit(Math.min(a, b), Math.max(a, b));
    visit(Math.min(b, c), Math.max(b, c));
    visit(Math.min(c, a), Math.max(c, a));
  }
}

/** Sort the numbers from `begin` to `end` in place. */
function sort(values: Uint32Array, begin: number, end: number): void {
  if (end - begin > SHORT) {
    values.subarray(begin, end).sort();
    return;
  }
  for (let k = begin + 1; k < end; k++) {
    const value = values[k];
    let place = k;
    for (; place > begin && values[place - 1] > value; place--) values[place] = values[place - 1];
    values[place] = value;
  }
}
