/** The divider of a split picture: dragged by mouse or finger, moved by the arrow keys; and what is on its sides. */

import { element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** How far an arrow key moves it, and one with Shift, as shares of the picture's width. */
const [STEP, FAR] = [0.02, 0.1];

export class Divider implements Tool {
  private stage: Stage | null = null;
  private readonly handle = element("div", "divider");
  private readonly left = element("span", "side-label left");
  private readonly right = element("span", "side-label right");

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const { handle } = this;
    const roles = { role: "slider", tabindex: "0", "aria-valuemin": "0", "aria-valuemax": "100" };
    for (const [name, value] of Object.entries({ ...roles, "aria-label": "divider", title: "drag, or arrow keys" })) {
      handle.setAttribute(name, value);
    }
    handle.append(element("span", "knob", "◂▸"));
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      event.preventDefault();
      handle.focus({ preventScroll: true });
    });
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId)) this.drag(event.clientX);
    });
    handle.addEventListener("dblclick", () => this.move(0.5));
    handle.addEventListener("keydown", (event) => this.press(event));
    panel.over(handle, this.left, this.right);
  }

  changed(): void {
    if (!this.stage) return;
    const { mode, left, right, divider } = this.stage.comparison;
    const isSplit = mode === "split";
    for (const part of [this.handle, this.left, this.right]) part.hidden = !isSplit;
    if (!isSplit) return;
    this.left.textContent = left.label;
    this.right.textContent = right.label;
    const percent = 100 * divider;
    this.handle.style.left = this.right.style.left = `${percent}%`;
    this.left.style.right = `${100 - percent}%`;
    this.handle.setAttribute("aria-valuenow", percent.toFixed(0));
    this.handle.setAttribute("aria-valuetext", `${left.label} on the left ${percent.toFixed(0)} %`);
  }

  private drag(clientX: number): void {
    const { left = 0, width = 1 } = this.stage?.renderer.domElement.getBoundingClientRect() ?? {};
    this.move((clientX - left) / width);
  }

  private move(share: number): void {
    if (this.stage) this.stage.comparison.divider = share;
  }

  private press(event: KeyboardEvent): void {
    const { divider = 0.5 } = this.stage?.comparison ?? {};
    const step = event.shiftKey ? FAR : STEP;
    const places: Record<string, number> = { ArrowLeft: divider - step, ArrowRight: divider + step, Home: 0, End: 1 };
    if (!Object.hasOwn(places, event.key)) return;
    // Arrow keys may move something else elsewhere.
    event.stopPropagation();
    event.preventDefault();
    this.move(places[event.key]);
  }
}
