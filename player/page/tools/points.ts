/** The control points in the panel: what a drag does, a list to select and reset them, and keys that move one. */

import { button, choice, element } from "../elements.js";
import { DragMotion } from "../drag_motion.js";
import type { Panel } from "../panel.js";
import { DRAGS } from "../point_editing.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** Pixels by which an arrow key moves the selected point. */
const STEP = 4;

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

const HINT =
  "Drag a point; with Shift, along its normal. Ctrl or Alt moves the whole, Ctrl+Shift rotates it. " +
  "A double click resets a point.";
const TOUCH_HINT = "Drag a point; two fingers move the camera; a double tap resets a point.";
const PLAYING = " While a clip plays, the points are hidden.";

interface Row {
  entry: HTMLElement;
  name: HTMLButtonElement;
  distance: HTMLElement;
}

export class Points implements Tool {
  private stage: Stage | null = null;
  private readonly rows: Row[] = [];
  private readonly group = element("details", "points");
  private readonly list = element("ul");
  /** The row that is selected; -1: none is. */
  private selected = -1;

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const drags = choice(DRAGS, stage.points.drag, (drag) => {
      stage.points.drag = drag;
    });
    drags.row.setAttribute("role", "group");
    drags.row.setAttribute("aria-label", "what a drag does");
    stage.points.names.forEach((name, point) => {
      const row = this.makeRow(stage, name, point);
      this.rows.push(row);
      this.list.append(row.entry);
    });
    this.group.append(element("summary", "", `${stage.points.count} control points`), this.list);
    this.group.addEventListener("toggle", () => this.reveal());
    const hints = [
      element("p", "hint for-mouse", stage.posing.clips.length ? HINT + PLAYING : HINT),
      element("p", "hint for-touch", TOUCH_HINT),
    ];
    panel.append(drags.row, ...hints, this.group);
    panel.button("reset point", "x", () => this.resetSelected());
    panel.button("reset all", "X", () => stage.points.resetAll());
    const presses = Object.entries(ARROWS).map(([key, [x, y]]) => [key, () => this.nudge(x, y)] as const);
    panel.keys("arrows move the point", Object.fromEntries(presses));
  }

  changed(): void {
    const selected = this.stage?.points.selected ?? -1;
    this.rows.forEach(({ name }, k) => {
      name.setAttribute("aria-pressed", `${k === selected}`);
    });
    if (selected === this.selected) return;
    this.selected = selected;
    this.reveal();
  }

  update(): void {
    const points = this.stage?.points;
    if (!points || !this.group.open) return;
    this.rows.forEach(({ distance }, k) => {
      const millimetres = 1000 * points.distance(k);
      const text = millimetres < 0.05 ? "" : `${millimetres.toFixed(1)} mm`;
      if (distance.textContent !== text) distance.textContent = text;
    });
  }

  /** Scroll the list, and nothing around it, to the row that is selected. */
  private reveal(): void {
    const entry = this.rows[this.selected]?.entry;
    if (!entry || !this.group.open) return;
    const { list } = this;
    const top = entry.offsetTop;
    const bottom = top + entry.offsetHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }

  private makeRow(stage: Stage, text: string, point: number): Row {
    const entry = element("li");
    const name = button(text, `select ${text}`, () => stage.points.select(point));
    const distance = element("output");
    const reset = button("reset", `bring ${text} back to rest`, () => stage.points.reset([point]));
    reset.setAttribute("aria-label", `reset ${text}`);
    entry.append(name, distance, reset);
    return { entry, name, distance };
  }

  private resetSelected(): void {
    const points = this.stage?.points;
    if (points && points.selected >= 0) points.reset([points.selected]);
  }

  /** Move the selected point by some pixels, as a drag would. */
  private nudge(x: number, y: number): void {
    if (!this.stage) return;
    const { points, posing, picture } = this.stage;
    const { selected } = points;
    if (selected < 0 || !points.shown) return;
    points.begin();
    const motion = new DragMotion(picture, points.position(selected), points.normal(selected), 0, 0);
    points.move(points.drag, selected, motion, x, y);
    posing.end();
  }
}
