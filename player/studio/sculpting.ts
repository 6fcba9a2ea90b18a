/** A surface that is being sculpted: its strokes, done and undone, and whether they are mirrored. */

import type { Brush } from "./brushes/brushes.js";
import type { Dab, Felt } from "./brushes/dab.js";
import { Mirror } from "./brushes/mirror.js";
import type { Moves } from "./brushes/mirror.js";
import { SculptSurface } from "./brushes/surface.js";
import { Topology } from "./brushes/topology.js";
import { Strokes } from "./strokes.js";

/** What the server says of the surface at a pose. */
export interface PosedSurface {
  /** Of the skin at the pose (N, 3), in metres. */
  points: Float32Array;
  /** (T, 3) */
  triangles: Int32Array;
  /** Of each vertex (N,) the first one at its rest position. */
  weld: Int32Array;
}

export class Sculpting {
  readonly surface: SculptSurface;
  readonly mirror: Mirror;
  /** Whether strokes are mirrored. */
  mirrored = false;
  private readonly strokes: Strokes;

  /** @param rest (N, 3) the rest shape, whose mirror plane is x = 0 */
  constructor({ points, triangles, weld }: PosedSurface, rest: Float32Array) {
    this.surface = new SculptSurface(points.slice(), new Topology(triangles, weld));
    this.mirror = new Mirror(rest, this.surface);
    this.strokes = new Strokes(this.surface);
  }

  /** Whether it has strokes. */
  get dirty(): boolean {
    return this.strokes.count > 0;
  }

  /** The shape now (N, 3): a copy. */
  points(): Float32Array {
    return this.surface.points.slice();
  }

  begin(): void {
    this.strokes.begin();
  }

  /** Touch the surface with a brush, within a stroke. */
  touch(brush: Brush, dab: Dab): void {
    const displacements = brush.apply(this.surface, dab);
    this.move(this.mirrored ? this.mirror.both(dab, displacements) : { vertices: dab.vertices, displacements });
  }

  /** The vertices (K,) that a dab moves, partners among them, and how much each feels of it (K,). */
  felt(dab: Felt): Felt {
    return this.mirrored ? this.mirror.felt(dab) : dab;
  }

  /** End the stroke; returns whether it moved something. */
  end(): boolean {
    return this.strokes.end();
  }

  /** Take back the stroke that is being made. */
  cancel(): void {
    this.strokes.cancel();
  }

  /** Take back the last stroke; returns whether there was one. */
  undo(): boolean {
    if (this.strokes.open) this.strokes.cancel();
    else return this.strokes.undo();
    return true;
  }

  /** Do again what was undone last; returns whether there was something. */
  redo(): boolean {
    return !this.strokes.open && this.strokes.redo();
  }

  /** Take another shape (N, 3), as one stroke. */
  replace(points: Float32Array): void {
    const { surface } = this;
    if (points.length !== surface.points.length) {
      const [wanted, came] = [surface.points.length / 3, points.length / 3];
      throw new Error(`the shape has ${came} vertices, this skin ${wanted}: sculpt on a mesh exported from here`);
    }
    this.strokes.begin();
    this.strokes.keep(surface.topology.firsts);
    surface.set(
      Uint32Array.from(surface.topology.weld, (_, vertex) => vertex),
      points,
    );
    this.strokes.end();
  }

  private move({ vertices, displacements }: Moves): void {
    this.strokes.keep(vertices);
    this.surface.move(vertices, displacements);
  }
}
