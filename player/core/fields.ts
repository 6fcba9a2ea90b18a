/** A JSON object from a file, read field by field with checks; every error says in one line where it is. */

/** Most letters of a wrong value that an error repeats. */
const MOST_LETTERS = 40;

export class Fields {
  private readonly values: Record<string, unknown>;

  constructor(
    json: unknown,
    readonly where: string,
  ) {
    if (typeof json !== "object" || json === null || Array.isArray(json))
      throw new Error(`${where}: expected an object`);
    this.values = json as Record<string, unknown>;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name);
  }

  number(name: string): number {
    const value = this.values[name];
    if (typeof value !== "number" || !Number.isFinite(value)) throw this.error(name, "expected a number");
    return value;
  }

  whole(name: string, least: number, most: number): number {
    const value = this.number(name);
    if (!Number.isInteger(value) || value < least || value > most) {
      throw this.error(name, `expected a whole number from ${least} to ${most}`);
    }
    return value;
  }

  flag(name: string): boolean {
    const value = this.values[name];
    if (typeof value !== "boolean") throw this.error(name, "expected true or false");
    return value;
  }

  text(name: string): string {
    const value = this.values[name];
    if (typeof value !== "string") throw this.error(name, "expected a text");
    return value;
  }

  /** One of the values that are known; the error names the one that came instead. */
  choice<T extends string | number>(name: string, choices: readonly T[]): T {
    const value = choices.find((known) => known === this.values[name]);
    if (value !== undefined) return value;
    throw this.error(name, `expected one of ${choices.join(", ")}, got ${shown(this.values[name])}`);
  }

  part(name: string): Fields {
    return new Fields(this.values[name], `${this.where}: ${name}`);
  }

  list(name: string): unknown[] {
    const value = this.values[name];
    if (!Array.isArray(value)) throw this.error(name, "expected a list");
    return value;
  }

  parts(name: string): Fields[] {
    return this.list(name).map((item, k) => new Fields(item, `${this.where}: ${name} ${k}`));
  }

  texts(name: string): string[] {
    const items = this.list(name);
    if (!items.every((item) => typeof item === "string")) throw this.error(name, "expected texts");
    return items as string[];
  }

  /** Finite numbers, `count` of them if given. */
  numbers(name: string, count?: number): Float64Array {
    const items = this.list(name);
    if (!items.every((item) => typeof item === "number" && Number.isFinite(item))) {
      throw this.error(name, "expected numbers");
    }
    if (count !== undefined && items.length !== count) throw this.error(name, `expected ${count} numbers`);
    return Float64Array.from(items as number[]);
  }

  /** Whole numbers within bounds, `count` of them if given. */
  wholes(name: string, least: number, most: number, count?: number): Int32Array {
    const values = this.numbers(name, count);
    if (!values.every((value) => Number.isInteger(value) && value >= least && value <= most)) {
      throw this.error(name, `expected whole numbers from ${least} to ${most}`);
    }
    return Int32Array.from(values);
  }

  private error(name: string, reason: string): Error {
    return new Error(`${this.where}: ${name}: ${reason}`);
  }
}

/** A wrong value in few letters, without line ends: a file may hold anything. */
function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, MOST_LETTERS) : value);
  return text ?? "nothing";
}
