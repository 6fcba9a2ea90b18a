/** Setting radius or strength by the pointer's way, as in Blender: F or Shift+F, move, click; Escape leaves it as it was. */

import type { Picture } from "../page/drag_motion.js";
import type { BrushRing } from "./brush_ring.js";
import type { BrushSettings } from "./brush_settings.js";

type Quantity = "radius" | "strength";

/** Pixels of a strength of 1. */
const WIDE = 120;

export class BrushSize {
  private held: { quantity: Quantity; x: number; y: number; before: number } | null = null;

  constructor(
    private readonly settings: BrushSettings,
    private readonly ring: BrushRing,
  ) {}

  /** Whether the pointer sets something. */
  get active(): boolean {
    return this.held !== null;
  }

  /** Begin where the pointer is: on the ring's edge. */
  begin(quantity: Quantity, x: number, y: number): void {
    const before = this.settings[quantity];
    this.held = { quantity, x: x - (quantity === "radius" ? before : WIDE * before), y, before };
  }

  to(x: number, y: number): void {
    const { held } = this;
    if (!held) return;
    const way = Math.hypot(x - held.x, y - held.y);
    this.settings[held.quantity] = held.quantity === "radius" ? way : way / WIDE;
  }

  end(): void {
    this.held = null;
  }

  cancel(): void {
    if (this.held) this.settings[this.held.quantity] = this.held.before;
    this.held = null;
  }

  /** Draw the ring where it is set. */
  draw(picture: Picture): void {
    const { held, settings, ring } = this;
    if (!held) return;
    const { radius, strength } = settings;
    if (held.quantity === "radius") ring.showFlat(picture, held.x, held.y, radius, `${radius} px`);
    else ring.showFlat(picture, held.x, held.y, WIDE * strength, `${Math.round(100 * strength)} %`);
  }
}
