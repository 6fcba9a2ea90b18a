/**
 * Dragging the control points by mouse, pen or finger. A drag that begins beside all handles is the camera's, and so is
 * one with two fingers, even if the first began on a handle.
 */

import { DragMotion } from "../drag_motion.js";
import type { Panel } from "../panel.js";
import type { Drag } from "../point_editing.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** How near to a handle a drag begins, and how far a pointer goes before it is one, in pixels. */
const NEAR = { mouse: 12, touch: 24 };
const STILL = { mouse: 2, touch: 6 };

/** The longest time between two taps that are a double one, in milliseconds. */
const DOUBLE = 400;

/** A pointer that is down on a handle. */
interface Held {
  pointer: number;
  point: number;
  drag: Drag;
  motion: DragMotion;
  /** Where it went down. */
  x: number;
  y: number;
  last: PointerEvent;
  moved: boolean;
}

export class PointDrag implements Tool {
  private stage: Stage | null = null;
  private held: Held | null = null;
  private readonly down = new Set<number>();
  private lastTap = { point: -1, time: 0 };
  /** Whether the camera is being told of a pointer that went down before. */
  private passing = false;

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    // Before the camera hears of them.
    const listen = (kind: "pointerdown" | "pointermove" | "pointerup" | "pointercancel", heard: PointerListener) => {
      window.addEventListener(kind, heard, { capture: true });
      panel.onDispose(() => window.removeEventListener(kind, heard, { capture: true }));
    };
    listen("pointerdown", (event) => this.press(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", (event) => {
      this.down.delete(event.pointerId);
      if (this.held?.pointer === event.pointerId) this.cancel();
    });
    panel.keys("Esc cancel a drag", { Escape: () => this.cancel() });
    panel.keys("Ctrl+z undo", { "Ctrl+z": () => this.undo() });
  }

  dispose(): void {
    this.cancel();
  }

  private get canvas(): HTMLCanvasElement | null {
    return this.stage?.renderer.domElement ?? null;
  }

  private press(event: PointerEvent): void {
    if (this.passing || !this.stage || event.target !== this.canvas) return;
    this.down.add(event.pointerId);
    if (this.held) {
      this.passOn();
      return;
    }
    const { points } = this.stage;
    if (this.down.size > 1 || event.button !== 0 || !points.shown) return;
    const [x, y] = this.pixel(event);
    const point = points.nearest(x, y, NEAR[kindOf(event)]);
    if (point < 0) return;
    event.stopPropagation();
    event.preventDefault();
    this.canvas?.focus({ preventScroll: true, focusVisible: false } as FocusOptions);
    this.canvas?.setPointerCapture(event.pointerId);
    const motion = new DragMotion(this.stage.picture, points.position(point), points.normal(point), x, y);
    const drag = dragOf(event, points.drag);
    this.held = { pointer: event.pointerId, point, drag, motion, x, y, last: event, moved: false };
    points.select(point);
  }

  private move(event: PointerEvent): void {
    if (!this.stage) return;
    const { held } = this;
    if (!held) {
      this.hover(event);
      return;
    }
    if (event.pointerId !== held.pointer) return;
    const { points } = this.stage;
    const [x, y] = this.pixel(event);
    held.last = event;
    if (!held.moved && Math.hypot(x - held.x, y - held.y) <= STILL[kindOf(event)]) return;
    if (!held.moved) points.begin();
    held.moved = true;
    points.move(held.drag, held.point, held.motion, x, y);
  }

  private release(event: PointerEvent): void {
    this.down.delete(event.pointerId);
    if (!this.stage || this.held?.pointer !== event.pointerId) return;
    const { moved, point } = this.held;
    this.held = null;
    const { points } = this.stage;
    if (moved) points.end();
    else if (this.lastTap.point === point && event.timeStamp - this.lastTap.time < DOUBLE) points.reset([point]);
    this.lastTap = moved ? { point: -1, time: 0 } : { point, time: event.timeStamp };
    if (moved) this.stage.notify();
  }

  /** Put what is dragged back. */
  private cancel(): void {
    if (this.held?.moved) this.stage?.points.cancel();
    this.held = null;
  }

  private undo(): void {
    if (this.held) this.cancel();
    else this.stage?.points.undo();
  }

  /** A second finger is down: both are the camera's. */
  private passOn(): void {
    const { canvas, held } = this;
    this.cancel();
    if (!canvas || !held) return;
    this.passing = true;
    canvas.dispatchEvent(new PointerEvent("pointerdown", held.last));
    this.passing = false;
  }

  private hover(event: PointerEvent): void {
    const { canvas, stage } = this;
    if (!canvas || !stage || event.pointerType === "touch" || this.down.size) return;
    const over = event.target === canvas && stage.points.shown;
    const [x, y] = this.pixel(event);
    stage.points.hovered = over ? stage.points.nearest(x, y, NEAR.mouse) : -1;
    canvas.style.cursor = stage.points.hovered >= 0 ? "grab" : "";
  }

  private pixel(event: PointerEvent): [number, number] {
    const { left = 0, top = 0 } = this.canvas?.getBoundingClientRect() ?? {};
    return [event.clientX - left, event.clientY - top];
  }
}

type PointerListener = (event: PointerEvent) => void;

function kindOf({ pointerType }: PointerEvent): "mouse" | "touch" {
  return pointerType === "touch" ? "touch" : "mouse";
}

/**
 * What a drag moves, by the keys that are held with it. Either of Ctrl, Alt and the command key will do: some systems
 * keep a drag with one of them for themselves.
 */
function dragOf({ shiftKey, ctrlKey, altKey, metaKey }: PointerEvent, usual: Drag): Drag {
  if (ctrlKey || altKey || metaKey) return shiftKey ? "rotate" : "whole";
  return shiftKey ? "normal" : usual;
}
