/** A stroke of a brush over the clay: it follows the pointer. */

import type { Vector3 } from "three";

import { DragMotion, worldPerPixel } from "../page/drag_motion.js";
import type { Picture } from "../page/drag_motion.js";
import type { BrushSettings, BrushUse } from "./brush_settings.js";
import { falloffAt } from "./brushes/falloff.js";
import type { Clay } from "./clay.js";
import type { Hit } from "./surface_tree.js";

/** How far dabs are apart, over the radius. */
const SPACING = 0.2;

/** Where a pointer is, in pixels of the picture, and how hard it is pressed, 0 to 1. */
export interface Sample {
  x: number;
  y: number;
  pressure: number;
}

/** The part of the clay that a brush covers. */
export interface Cover {
  position: Vector3;
  normal: Vector3;
  /** In the world. */
  radius: number;
  /** The first vertices (K,) within it, and how much each feels (K,). */
  vertices: Uint32Array;
  falloff: Float32Array;
}

export interface Stroke {
  /** What it covers now; null: nothing. */
  readonly cover: Cover | null;
  /** Go on to where the pointer is. */
  to(sample: Sample): void;
}

/** What a brush with these settings covers at a hit. */
export function coverAt(clay: Clay, picture: Picture, settings: BrushSettings, hit: Hit): Cover {
  const { position } = hit;
  const radius = settings.radius * worldPerPixel(picture, position);
  const vertices = clay.near(hit, radius, settings.whole);
  const falloff = falloffAt(clay.sculpting.surface, vertices, position.toArray(), radius);
  return { position, normal: clay.normal(hit), radius, vertices, falloff };
}

/** Begin a stroke where a pointer meets the clay. */
export function strokeOf(
  clay: Clay,
  picture: Picture,
  settings: BrushSettings,
  use: BrushUse,
  start: Sample & { hit: Hit },
): Stroke {
  if (use.brush.holds) return new HoldingStroke(clay, picture, settings, use, start);
  return new SpacedStroke(clay, picture, settings, use, start);
}

/** Keeps what it covered first, and moves it with the pointer. */
class HoldingStroke implements Stroke {
  readonly cover: Cover;
  private readonly motion: DragMotion;
  private readonly start: Vector3;

  constructor(
    private readonly clay: Clay,
    picture: Picture,
    settings: BrushSettings,
    private readonly use: BrushUse,
    { hit, x, y }: Sample & { hit: Hit },
  ) {
    this.cover = coverAt(clay, picture, settings, hit);
    this.start = hit.position.clone();
    this.motion = new DragMotion(picture, this.start, this.cover.normal, x, y);
  }

  to({ x, y }: Sample): void {
    const { cover, start, clay, use } = this;
    const position = this.motion.inView(x, y).add(start);
    const motion = position.clone().sub(cover.position).toArray();
    cover.position = position;
    const { vertices, falloff, radius } = cover;
    // Pressure has no part in it: what is held would slip from under the pen.
    clay.sculpting.touch(use.brush, { vertices, falloff, radius, strength: use.strength, motion });
    clay.settle();
  }
}

/** Touches the clay at even distances along the pointer's way. */
class SpacedStroke implements Stroke {
  cover: Cover | null = null;
  private last: Sample;

  constructor(
    private readonly clay: Clay,
    private readonly picture: Picture,
    private readonly settings: BrushSettings,
    private readonly use: BrushUse,
    start: Sample & { hit: Hit },
  ) {
    this.last = start;
    this.dab(start);
  }

  to(sample: Sample): void {
    const { last, settings } = this;
    const way = Math.hypot(sample.x - last.x, sample.y - last.y);
    const step = SPACING * settings.radius;
    const between = (a: number, b: number, part: number) => a + part * (b - a);
    for (let done = step; done <= way; done += step) {
      const part = done / way;
      this.last = {
        x: between(last.x, sample.x, part),
        y: between(last.y, sample.y, part),
        pressure: between(last.pressure, sample.pressure, part),
      };
      this.dab(this.last);
    }
  }

  private dab({ x, y, pressure }: Sample): void {
    const { clay, picture, settings, use } = this;
    const hit = clay.meet(picture, x, y);
    this.cover = hit && coverAt(clay, picture, settings, hit);
    if (!this.cover) return;
    const { vertices, falloff, radius } = this.cover;
    clay.sculpting.touch(use.brush, {
      vertices,
      falloff,
      radius,
      strength: use.strength * pressure,
      motion: [0, 0, 0],
    });
    clay.settle();
  }
}
