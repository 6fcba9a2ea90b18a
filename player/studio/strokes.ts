/** Strokes that were done, each as the positions that it changed: to undo and redo them. */

import type { SculptSurface } from "./brushes/surface.js";

/** Vertices (K,), all members of their weld groups, with their positions (K, 3) before and after. */
interface Stroke {
  vertices: Uint32Array;
  before: Float32Array;
  after: Float32Array;
}

/** Positions that are kept at most, over all strokes: older strokes go first. */
const MOST = 5_000_000;

export class Strokes {
  private readonly done: Stroke[] = [];
  private readonly undone: Stroke[] = [];
  /** Positions before the stroke that is being made, by vertex; null: none is. */
  private before: Map<number, number[]> | null = null;
  /** Strokes that can be undone no more. */
  private forgotten = 0;

  constructor(private readonly surface: SculptSurface) {}

  /** Whether a stroke is being made. */
  get open(): boolean {
    return this.before !== null;
  }

  /** How many strokes the surface has. */
  get count(): number {
    return this.forgotten + this.done.length;
  }

  begin(): void {
    this.end();
    this.before = new Map();
  }

  /** Keep where weld groups, named by their first vertices, are before they move. */
  keep(vertices: Uint32Array): void {
    const { before } = this;
    if (!before) throw new Error("a stroke moves vertices between its begin and its end");
    const { points, topology } = this.surface;
    for (const vertex of vertices) {
      if (before.has(vertex)) continue;
      for (const member of topology.members.row(vertex)) {
        before.set(member, [points[3 * member], points[3 * member + 1], points[3 * member + 2]]);
      }
    }
  }

  /** The stroke is done; one that moved nothing is none. Returns whether it is one. */
  end(): boolean {
    const { before } = this;
    this.before = null;
    if (!before?.size) return false;
    const vertices = Uint32Array.from(before.keys());
    const stroke = { vertices, before: Float32Array.from([...before.values()].flat()), after: this.now(vertices) };
    if (stroke.after.every((value, k) => value === stroke.before[k])) return false;
    this.done.push(stroke);
    this.undone.length = 0;
    this.forget();
    return true;
  }

  /** Take back the stroke that is being made. */
  cancel(): void {
    const { before } = this;
    this.before = null;
    if (before) this.surface.set(Uint32Array.from(before.keys()), Float32Array.from([...before.values()].flat()));
  }

  /** Take back the last stroke; returns whether there was one. */
  undo(): boolean {
    const stroke = this.done.pop();
    if (!stroke) return false;
    this.undone.push(stroke);
    this.surface.set(stroke.vertices, stroke.before);
    return true;
  }

  /** Do again what was undone last; returns whether there was something. */
  redo(): boolean {
    const stroke = this.undone.pop();
    if (!stroke) return false;
    this.done.push(stroke);
    this.surface.set(stroke.vertices, stroke.after);
    return true;
  }

  private forget(): void {
    let kept = this.done.reduce((sum, { vertices }) => sum + vertices.length, 0);
    while (kept > MOST && this.done.length > 1) {
      kept -= this.done.shift()?.vertices.length ?? 0;
      this.forgotten++;
    }
  }

  private now(vertices: Uint32Array): Float32Array {
    const positions = new Float32Array(3 * vertices.length);
    vertices.forEach((vertex, k) => {
      positions.set(this.surface.points.subarray(3 * vertex, 3 * vertex + 3), 3 * k);
    });
    return positions;
  }
}
