/**
 * Mouse, pen and fingers while one sculpts. On the clay a drag is a stroke; beside it, with the right button or with
 * two fingers it is the camera's.
 */

import type { Sample } from "./stroke.js";

/** The keys that are held with a pointer. */
export interface Held {
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
}

/** What hears of the pointer, in pixels of the canvas. */
export interface PointerUser {
  /** Begin a stroke; returns whether there is something to sculpt there. */
  begin(sample: Sample, held: Held): boolean;
  to(sample: Sample): void;
  end(): void;
  /** Take the stroke back. */
  cancel(): void;
  /** The pointer is over the canvas without a button; null: it is not. */
  hover(at: { x: number; y: number } | null): void;
  /** A click that something else waits for: returns whether it did. */
  click(confirmed: boolean): boolean;
}

const LEFT = 0;
const RIGHT = 2;

export class BrushPointer {
  private readonly down = new Set<number>();
  private stroke: { pointer: number; first: PointerEvent } | null = null;
  /** Whether the camera is being told of a pointer. */
  private passing = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly user: PointerUser,
  ) {}

  /** Begin to listen, before the camera hears; returns what ends it. */
  listen(): () => void {
    const heard = {
      pointerdown: (event: PointerEvent) => this.press(event),
      pointermove: (event: PointerEvent) => this.move(event),
      pointerup: (event: PointerEvent) => this.release(event),
      pointercancel: (event: PointerEvent) => this.drop(event),
    };
    const kinds = Object.keys(heard) as (keyof typeof heard)[];
    for (const kind of kinds) window.addEventListener(kind, heard[kind], { capture: true });
    return () => {
      for (const kind of kinds) window.removeEventListener(kind, heard[kind], { capture: true });
      this.stroke = null;
      this.down.clear();
    };
  }

  private press(event: PointerEvent): void {
    if (this.passing || event.target !== this.canvas) return;
    if (this.user.click(event.button === LEFT)) {
      event.stopImmediatePropagation();
      return;
    }
    this.down.add(event.pointerId);
    if (this.stroke) {
      this.passStroke(this.stroke.first);
      return;
    }
    if (event.button === RIGHT) this.passOn(event);
    if (event.button !== LEFT || this.down.size > 1 || !this.user.begin(this.sample(event), event)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.canvas.focus({ preventScroll: true, focusVisible: false } as FocusOptions);
    this.canvas.setPointerCapture(event.pointerId);
    this.stroke = { pointer: event.pointerId, first: event };
  }

  private move(event: PointerEvent): void {
    if (event.pointerId === this.stroke?.pointer) {
      const between = event.getCoalescedEvents();
      for (const one of between.length ? between : [event]) this.user.to(this.sample(one));
      return;
    }
    const isOver = event.target === this.canvas && !this.down.size && event.pointerType !== "touch";
    this.user.hover(isOver ? this.sample(event) : null);
  }

  private release(event: PointerEvent): void {
    this.down.delete(event.pointerId);
    if (event.pointerId !== this.stroke?.pointer) return;
    this.stroke = null;
    this.user.end();
  }

  private drop(event: PointerEvent): void {
    this.down.delete(event.pointerId);
    if (event.pointerId !== this.stroke?.pointer) return;
    this.stroke = null;
    this.user.cancel();
  }

  /** A second finger is down: both are the camera's, and the stroke was none. */
  private passStroke(first: PointerEvent): void {
    this.stroke = null;
    this.user.cancel();
    this.tellCamera(first);
  }

  /** What the right button drags is what the left one drags beside the clay. */
  private passOn(event: PointerEvent): void {
    event.stopImmediatePropagation();
    this.tellCamera(event);
  }

  private tellCamera(event: PointerEvent): void {
    const { pointerId, pointerType, clientX, clientY, shiftKey, isPrimary } = event;
    const told = { pointerId, pointerType, clientX, clientY, shiftKey, isPrimary, button: LEFT, buttons: 1 };
    this.passing = true;
    this.canvas.dispatchEvent(new PointerEvent("pointerdown", { ...told, bubbles: true, cancelable: true }));
    this.passing = false;
  }

  private sample({ clientX, clientY, pointerType, pressure }: PointerEvent): Sample {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top, pressure: pointerType === "pen" ? pressure : 1 };
  }
}
