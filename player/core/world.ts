/** Nodes of a scene, and what all that is above them makes of their transforms. */

interface Vector {
  x: number;
  y: number;
  z: number;
}

interface Quaternion extends Vector {
  w: number;
}

/** A node of a file, with its transform relative to its parent; three.js's objects are such. */
export interface SceneNode {
  position: Vector;
  quaternion: Quaternion;
  scale: Vector;
  parent: SceneNode | null;
  userData: Record<string, unknown>;
}

/** Marks the node above a skeleton: what it and those above it do is no pose. Clones keep the mark. */
export const TOP = "posespaceTop";

const IDENTITY = Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);

/** Rotations and matrices of bones and of all that is above them in the file; computed once, however many share one. */
export class World {
  /** Parents come first. */
  private readonly nodes: SceneNode[] = [];
  private readonly parents: number[] = [];
  private readonly indices = new Map<SceneNode, number>();
  /** Of each node its rotation (4), scales left out, and its matrix: 3 rows of 4. */
  private readonly rotations: Float64Array[] = [];
  private readonly matrices: Float64Array[] = [];
  private readonly local = new Float64Array(12);

  /** Return the index of a bone, a new one if it has none yet. */
  add(bone: SceneNode): number {
    const chain: SceneNode[] = [];
    let top: SceneNode | null = bone;
    const above = new Set<SceneNode>();
    for (; top && !top.userData[TOP] && !this.indices.has(top); top = top.parent) {
      if (above.has(top)) throw new Error("expected a tree of nodes, got one that is above itself");
      above.add(top);
      chain.push(top);
    }
    let index = (top && this.indices.get(top)) ?? -1;
    for (const node of chain.reverse()) {
      this.parents.push(index);
      index = this.nodes.push(node) - 1;
      this.indices.set(node, index);
      this.rotations.push(new Float64Array(4));
      this.matrices.push(new Float64Array(12));
    }
    return index;
  }

  /** The matrix of a node, 3 rows of 4, as last computed; with -1, of what is above the skeleton: the identity. */
  matrix(index: number): Float64Array {
    return index < 0 ? IDENTITY : this.matrices[index];
  }

  /** The node above one, or -1. */
  parent(index: number): number {
    return this.parents[index];
  }

  /** Compute all as they are now. */
  update(): void {
    this.nodes.forEach(({ position, quaternion, scale }, k) => {
      const parent = this.parents[k];
      const { x, y, z, w } = quaternion;
      if (parent < 0) {
        this.rotations[k].set([x, y, z, w]);
        compose(position, quaternion, scale, this.matrices[k]);
      } else {
        const [p, q, r, s] = this.rotations[parent];
        multiplyRotations(p, q, r, s, x, y, z, w, this.rotations[k], 0);
        compose(position, quaternion, scale, this.local);
        multiplyMatrices(this.matrices[parent], this.local, this.matrices[k]);
      }
    });
  }

  /** Write the rotation and position of a bone as seen from another, as those of a joint. */
  writeRelative(bone: number, from: number, rotations: Float64Array, translations: Float64Array, joint: number): void {
    const [p, q, r, s] = this.rotations[from];
    const [x, y, z, w] = this.rotations[bone];
    multiplyRotations(-p, -q, -r, s, x, y, z, w, rotations, 4 * joint);
    const [here, there] = [this.matrices[bone], this.matrices[from]];
    const [a, b, c] = [here[3] - there[3], here[7] - there[7], here[11] - there[11]];
    // The inverse of the other's rotation: v + 2 s (v × u) - 2 u × (v × u), u being its x, y and z.
    const [i, j, k] = [b * r - c * q, c * p - a * r, a * q - b * p];
    translations[3 * joint] = a + 2 * (s * i - q * k + r * j);
    translations[3 * joint + 1] = b + 2 * (s * j - r * i + p * k);
    translations[3 * joint + 2] = c + 2 * (s * k - p * j + q * i);
  }
}

/** Write the product of the rotations (p, q, r, s) and (x, y, z, w). */
function multiplyRotations(
  p: number,
  q: number,
  r: number,
  s: number,
  x: number,
  y: number,
  z: number,
  w: number,
  product: Float64Array,
  start: number,
): void {
  product[start] = s * x + p * w + q * z - r * y;
  product[start + 1] = s * y - p * z + q * w + r * x;
  product[start + 2] = s * z + p * y - q * x + r * w;
  product[start + 3] = s * w - p * x - q * y - r * z;
}

/** Write the matrix of a translation, a rotation and a scale: 3 rows of 4. */
function compose(position: Vector, { x, y, z, w }: Quaternion, scale: Vector, matrix: Float64Array): void {
  matrix[0] = (1 - 2 * (y * y + z * z)) * scale.x;
  matrix[1] = 2 * (x * y - z * w) * scale.y;
  matrix[2] = 2 * (x * z + y * w) * scale.z;
  matrix[3] = position.x;
  matrix[4] = 2 * (x * y + z * w) * scale.x;
  matrix[5] = (1 - 2 * (x * x + z * z)) * scale.y;
  matrix[6] = 2 * (y * z - x * w) * scale.z;
  matrix[7] = position.y;
  matrix[8] = 2 * (x * z - y * w) * scale.x;
  matrix[9] = 2 * (y * z + x * w) * scale.y;
  matrix[10] = (1 - 2 * (x * x + y * y)) * scale.z;
  matrix[11] = position.z;
}

/** Write the product of two matrices of 3 rows of 4, whose last row is 0 0 0 1. */
export function multiplyMatrices(a: Float64Array, b: Float64Array, product: Float64Array): void {
  for (let row = 0; row < 12; row += 4) {
    for (let column = 0; column < 4; column++) {
      const sum = a[row] * b[column] + a[row + 1] * b[4 + column] + a[row + 2] * b[8 + column];
      product[row + column] = column === 3 ? sum + a[row + 3] : sum;
    }
  }
}
