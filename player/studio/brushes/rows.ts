/** Lists of different lengths, one behind another in one array. */

export class Rows {
  private constructor(
    /** Where each list begins, and where the last one ends (count + 1). */
    readonly starts: Uint32Array,
    readonly values: Uint32Array,
  ) {}

  /** Make lists of pairs, in the order of the pairs: `values[k]` belongs to list `keys[k]`, below `count`. */
  static of(count: number, keys: ArrayLike<number>, values: ArrayLike<number>): Rows {
    const starts = new Uint32Array(count + 1);
    for (let k = 0; k < keys.length; k++) starts[keys[k] + 1]++;
    for (let k = 0; k < count; k++) starts[k + 1] += starts[k];
    const next = starts.slice();
    const sorted = new Uint32Array(keys.length);
    for (let k = 0; k < keys.length; k++) sorted[next[keys[k]]++] = values[k];
    return new Rows(starts, sorted);
  }

  /** The values of a list. */
  row(index: number): Uint32Array {
    return this.values.subarray(this.starts[index], this.starts[index + 1]);
  }
}
