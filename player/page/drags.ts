/**
 * What mouse, pen and finger do on the picture. Tools are asked, in the order in which they were added, whether they
 * take hold of something where a pointer goes down. What none takes is the camera's, and so are two fingers, even if the
 * first of them had hold of something.
 */

/** How far a pointer goes before it drags, in pixels. */
const STILL = { mouse: 2, touch: 6 };

export interface Pixel {
  x: number;
  y: number;
}

/** What a pointer holds. */
export interface Grip {
  /** The pointer goes away from where it went down: a drag begins. */
  begin(): void;
  move(pixel: Pixel): void;
  end(): void;
  /** The drag is to leave everything as it was. */
  cancel(): void;
  /** The pointer went up where it went down. */
  tap?(event: PointerEvent): void;
}

/** What a tool does with pointers on the picture. */
export interface Grabber {
  /** What a pointer holds that goes down at a pixel; null: nothing of this tool. */
  grab?(pixel: Pixel, event: PointerEvent): Grip | null;
  /** A pointer went down and up at a pixel where nothing was held. Returns whether that was for this tool. */
  tap?(pixel: Pixel): boolean;
  /** A mouse is over a pixel; null: elsewhere, or over something of another tool. Returns the cursor to show there. */
  hover?(pixel: Pixel | null): string | null;
}

/** A pointer that is down. */
interface Held {
  grip: Grip | null;
  start: Pixel;
  last: PointerEvent;
  moved: boolean;
}

export function kindOf({ pointerType }: PointerEvent): "mouse" | "touch" {
  return pointerType === "touch" ? "touch" : "mouse";
}

export class Drags {
  /** Whether tools take hold of nothing: the pointer is that of something else, such as a brush. */
  paused = false;
  private readonly grabbers = new Set<Grabber>();
  private readonly down = new Set<number>();
  private held: Held | null = null;
  /** Whether the camera is being told of a pointer that went down before. */
  private passing = false;

  constructor(private readonly canvas: HTMLCanvasElement) {
    // Before the camera hears of them.
    const listen = (kind: PointerKind, heard: (event: PointerEvent) => void) =>
      window.addEventListener(kind, heard, { capture: true });
    listen("pointerdown", (event) => this.press(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", (event) => {
      this.down.delete(event.pointerId);
      if (this.held?.last.pointerId === event.pointerId) this.cancel();
    });
  }

  /** Let a tool take hold; returns what ends that. */
  add(grabber: Grabber): () => void {
    this.grabbers.add(grabber);
    return () => {
      this.cancel();
      this.grabbers.delete(grabber);
    };
  }

  /** Whether something is being dragged. */
  get active(): boolean {
    return !!this.held?.grip && this.held.moved;
  }

  /** Let go of what is held, and put it back. */
  cancel(): void {
    const { held } = this;
    this.held = null;
    if (held?.grip && held.moved) held.grip.cancel();
  }

  private press(event: PointerEvent): void {
    if (this.passing || event.target !== this.canvas) return;
    this.down.add(event.pointerId);
    if (this.down.size > 1) {
      this.passOn();
      return;
    }
    if (event.button !== 0) return;
    const start = this.pixel(event);
    const grip = this.grab(start, event);
    this.held = { grip, start, last: event, moved: false };
    if (!grip) return;
    event.stopPropagation();
    event.preventDefault();
    this.canvas.focus({ preventScroll: true, focusVisible: false } as FocusOptions);
    this.canvas.setPointerCapture(event.pointerId);
  }

  private grab(pixel: Pixel, event: PointerEvent): Grip | null {
    for (const { grab } of this.bound) {
      const grip = grab(pixel, event);
      if (grip) return grip;
    }
    return null;
  }

  private move(event: PointerEvent): void {
    const { held } = this;
    if (!held) {
      if (event.pointerType !== "touch" && !this.down.size) this.hover(event);
      return;
    }
    if (event.pointerId !== held.last.pointerId) return;
    const pixel = this.pixel(event);
    const way = Math.hypot(pixel.x - held.start.x, pixel.y - held.start.y);
    held.last = event;
    if (!held.moved && way <= STILL[kindOf(event)]) return;
    if (!held.moved) held.grip?.begin();
    held.moved = true;
    held.grip?.move(pixel);
  }

  private release(event: PointerEvent): void {
    this.down.delete(event.pointerId);
    const { held } = this;
    if (held?.last.pointerId !== event.pointerId) return;
    this.held = null;
    if (held.moved) held.grip?.end();
    else if (held.grip) held.grip.tap?.(event);
    else this.bound.some(({ tap }) => tap(held.start));
  }

  /** A second finger is down: both are the camera's. */
  private passOn(): void {
    const { held } = this;
    this.cancel();
    if (!held?.grip) return;
    this.passing = true;
    this.canvas.dispatchEvent(new PointerEvent("pointerdown", held.last));
    this.passing = false;
  }

  private hover(event: PointerEvent): void {
    let pixel = event.target === this.canvas ? this.pixel(event) : null;
    let cursor: string | null = null;
    for (const { hover } of this.bound) {
      const wanted = hover(pixel);
      if (wanted === null) continue;
      [cursor, pixel] = [wanted, null];
    }
    this.canvas.style.cursor = cursor ?? "";
  }

  /** What tools do, and nothing where they have no say. */
  private get bound() {
    const grabbers = this.paused ? [] : [...this.grabbers];
    return grabbers.map((grabber) => ({
      grab: (pixel: Pixel, event: PointerEvent) => grabber.grab?.(pixel, event) ?? null,
      tap: (pixel: Pixel) => grabber.tap?.(pixel) ?? false,
      hover: (pixel: Pixel | null) => grabber.hover?.(pixel) ?? null,
    }));
  }

  private pixel({ clientX, clientY }: PointerEvent): Pixel {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }
}

type PointerKind = "pointerdown" | "pointermove" | "pointerup" | "pointercancel";
