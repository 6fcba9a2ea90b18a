/** How one sculpts: the brush, its radius in the picture and its strength. */

import { GRAB, SMOOTH } from "./brushes/brushes.js";
import type { Brush } from "./brushes/brushes.js";

const RADIUS = { least: 5, most: 300 };

/** What a brush does in one stroke. */
export interface BrushUse {
  brush: Brush;
  /** 0 to 1; negative: the brush does the opposite. */
  strength: number;
}

export class BrushSettings {
  /** Whether a brush also moves what is within its radius and hangs not together with what is below the pointer. */
  whole = false;
  private chosen = GRAB;
  private pixels = 60;
  private readonly strengths = new Map<Brush, number>();

  constructor(private readonly changed: () => void) {}

  get brush(): Brush {
    return this.chosen;
  }

  set brush(brush: Brush) {
    this.chosen = brush;
    this.changed();
  }

  /** In pixels of the picture, as in Blender. */
  get radius(): number {
    return this.pixels;
  }

  set radius(pixels: number) {
    this.pixels = Math.round(Math.min(RADIUS.most, Math.max(RADIUS.least, pixels)));
    this.changed();
  }

  /** Of the chosen brush, 0 to 1. */
  get strength(): number {
    return this.strengthOf(this.chosen);
  }

  set strength(strength: number) {
    this.strengths.set(this.chosen, Math.round(100 * Math.min(1, Math.max(0, strength))) / 100);
    this.changed();
  }

  /** What the keys that are held make of the brush: Shift smooths, Ctrl does the opposite. */
  use({ shiftKey, ctrlKey, metaKey }: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }): BrushUse {
    const brush = shiftKey ? SMOOTH : this.chosen;
    const opposite = brush.inverts && (ctrlKey || metaKey);
    return { brush, strength: (opposite ? -1 : 1) * this.strengthOf(brush) };
  }

  private strengthOf(brush: Brush): number {
    return this.strengths.get(brush) ?? brush.strength;
  }
}
