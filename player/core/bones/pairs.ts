/** Normal equations of bones: sums over equations for each pair of bones that any of them has. */

export class Pairs {
  /** The bones of each pair, the larger number first. */
  readonly rows: number[] = [];
  readonly columns: number[] = [];
  /** Of each pair, with s the coefficients of its bones and m the point of each equation: Σ s s, and Σ s s m (3). */
  readonly products: number[] = [];
  readonly moments: number[] = [];
  /** The number of each pair, or -1. */
  private readonly numbers: Int32Array;

  constructor(readonly bones: number) {
    this.numbers = new Int32Array((bones * (bones + 1)) / 2).fill(-1);
  }

  /** Add an equation of `count` bones, with coefficients and a point. */
  add(count: number, bones: Uint32Array, signed: Float64Array, x: number, y: number, z: number): void {
    const { products, moments } = this;
    for (let i = 0; i < count; i++) {
      for (let j = 0; j <= i; j++) {
        const product = signed[i] * signed[j];
        const number = this.number(bones[i], bones[j]);
        products[number] += product;
        moments[3 * number] += product * x;
        moments[3 * number + 1] += product * y;
        moments[3 * number + 2] += product * z;
      }
    }
  }

  /** Add all equations of others, each `weight` times. */
  addAll(others: Pairs, weight: number): void {
    others.rows.forEach((row, k) => {
      const number = this.number(row, others.columns[k]);
      this.products[number] += weight * others.products[k];
      for (let i = 0; i < 3; i++) this.moments[3 * number + i] += weight * others.moments[3 * k + i];
    });
  }

  private number(a: number, b: number): number {
    const high = Math.max(a, b);
    const low = Math.min(a, b);
    const pair = (high * (high + 1)) / 2 + low;
    const number = this.numbers[pair];
    if (number >= 0) return number;
    this.rows.push(high);
    this.columns.push(low);
    this.moments.push(0, 0, 0);
    return (this.numbers[pair] = this.products.push(0) - 1);
  }
}
