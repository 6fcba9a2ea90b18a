/** Vectors and triangles as other libraries hold them: three.js's attributes are such, and so are a test's plain arrays. */

/** A list of vectors, read one number at a time. */
export interface Vectors {
  readonly count: number;
  getX(index: number): number;
  getY(index: number): number;
  getZ(index: number): number;
}

/** A table of numbers, row by row. */
export interface Table {
  readonly count: number;
  /** Numbers per row. */
  readonly itemSize: number;
  getComponent(index: number, component: number): number;
}

/** A list of whole numbers. */
export interface Indices {
  readonly count: number;
  getX(index: number): number;
}

/** The triangles of a primitive. */
export interface Geometry {
  positions: Vectors;
  /** Three vertices per triangle; null: the vertices are in order. */
  indices: Indices | null;
}
