/** A JSON object from a file, read field by field with checks; every error names the place in one line. */

export class Fields {
  private readonly values: Record<string, unknown>;

  constructor(
    json: unknown,
    readonly where: string,
  ) {
    if (typeof json !== "object" || json === null || Array.isArray(json)) throw new Error(`${where}: expected an object`);
    this.values = json as Record<string, unknown>;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name);
  }

  number(name: string): number {
    const found = this.values[name];
    if (typeof found !== "number" || !Number.isFinite(found)) throw this.error(name, "expected a number");
    return found;
  }

  whole(name: string, least: number, most: number): number {
    const found = this.number(name);
    if (!Number.isInteger(found) || found < least || found > most) {
      throw this.error(name, `expected a whole number from ${least} to ${most}`);
    }
    return found;
  }

  flag(name: string): boolean {
    const found = this.values[name];
    if (typeof found !== "boolean") throw this.error(name, "expected true or false");
    return found;
  }

  text(name: string): string {
    const found = this.values[name];
    if (typeof found !== "string") throw this.error(name, "expected a text");
    return found;
  }

  choice<T extends string | number>(name: string, choices: readonly T[]): T {
    const found = choices.find((each) => each === this.values[name]);
    if (found === undefined) throw this.error(name, `expected one of ${choices.join(", ")}`);
    return found;
  }

  part(name: string): Fields {
    return new Fields(this.values[name], `${this.where}: ${name}`);
  }

  list(name: string): unknown[] {
    const found = this.values[name];
    if (!Array.isArray(found)) throw this.error(name, "expected a list");
    return found;
  }

  parts(name: string): Fields[] {
    return this.list(name).map((each, k) => new Fields(each, `${this.where}: ${name} ${k}`));
  }

  texts(name: string): string[] {
    const found = this.list(name);
    if (!found.every((each) => typeof each === "string")) throw this.error(name, "expected texts");
    return found as string[];
  }

  /** Finite numbers, `count` of them if given. */
  numbers(name: string, count?: number): Float64Array {
    const found = this.list(name);
    if (!found.every((each) => typeof each === "number" && Number.isFinite(each))) {
      throw this.error(name, "expected numbers");
    }
    if (count !== undefined && found.length !== count) throw this.error(name, `expected ${count} numbers`);
    return Float64Array.from(found as number[]);
  }

  /** Whole numbers within bounds, `count` of them if given. */
  wholes(name: string, least: number, most: number, count?: number): Int32Array {
    const found = this.numbers(name, count);
    if (!found.every((each) => Number.isInteger(each) && each >= least && each <= most)) {
      throw this.error(name, `expected whole numbers from ${least} to ${most}`);
    }
    return Int32Array.from(found);
  }

  private error(name: string, reason: string): Error {
    return new Error(`${this.where}: ${name}: ${reason}`);
  }
}
