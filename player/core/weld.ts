/** Which vertices share a position: a file that splits vertices at seams repeats them. */

/** Vertices in groups, numbered by their first vertex. */
export interface Groups {
  /** The group of each vertex. */
  of: Uint32Array;
  count: number;
}

/** Group the vertices of points (N, 3) that share a position exactly. */
export function weld(points: Float64Array): Groups {
  const vertices = points.length / 3;
  const of = new Uint32Array(vertices);
  const slots = 2 ** Math.ceil(Math.log2(2 * vertices + 2));
  const table = new Int32Array(slots).fill(-1);
  const firsts: number[] = [];
  const numbers = new Float64Array(3);
  const words = new Uint32Array(numbers.buffer);
  for (let vertex = 0; vertex < vertices; vertex++) {
    // Adding zero makes -0 into 0.
    for (let k = 0; k < 3; k++) numbers[k] = points[3 * vertex + k] + 0;
    let slot = hash(words) & (slots - 1);
    while (table[slot] >= 0 && !isAt(points, firsts[table[slot]], numbers)) slot = (slot + 1) & (slots - 1);
    if (table[slot] < 0) table[slot] = firsts.push(vertex) - 1;
    of[vertex] = table[slot];
  }
  return { of, count: firsts.length };
}

/** Group vertices by labels, numbers below `limit`. */
export function groupsOf(labels: Uint32Array, limit: number): Groups {
  const numbers = new Int32Array(limit).fill(-1);
  let count = 0;
  const of = labels.map((label) => {
    if (numbers[label] < 0) numbers[label] = count++;
    return numbers[label];
  });
  return { of, count };
}

function isAt(points: Float64Array, vertex: number, [x, y, z]: Float64Array): boolean {
  return points[3 * vertex] === x && points[3 * vertex + 1] === y && points[3 * vertex + 2] === z;
}

function hash(words: Uint32Array): number {
  let mixed = 0;
  for (let k = 0; k < words.length; k++) {
    mixed = Math.imul(mixed ^ words[k], 0x9e3779b1);
    mixed ^= mixed >>> 15;
  }
  return mixed;
}
