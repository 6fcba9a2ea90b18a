/** Handles of the control points: discs over the picture, of one size, where the posed surface has the points. */

import { place, svg, tick } from "../elements.js";
import type { Panel } from "../panel.js";
import type { PointEditing } from "../point_editing.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** Pixels between the surface and what a point was dragged to, from which on both are shown. */
const APART = 8;

export class Handles implements Tool {
  private stage: Stage | null = null;
  private readonly layer = svg("svg");
  private readonly line = svg("line");
  private readonly ring = svg("circle");
  private readonly label = svg("text");
  private readonly discs: SVGCircleElement[] = [];

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.layer.id = "handles";
    this.layer.setAttribute("aria-hidden", "true");
    this.ring.classList.add("target");
    this.layer.append(this.line);
    stage.points.names.forEach((_, k) => {
      const disc = svg("circle");
      disc.dataset.point = `${k}`;
      this.discs.push(disc);
      this.layer.append(disc);
    });
    this.layer.append(this.ring, this.label);
    stage.renderer.domElement.after(this.layer);
    const { row, input } = tick("show the points", (on) => {
      stage.points.wanted = on;
    });
    input.checked = stage.points.wanted;
    panel.append(row);
    panel.keys("p points", { p: () => input.click() });
  }

  afterDraw(): void {
    if (!this.stage) return;
    const { points, camera, renderer } = this.stage;
    const { clientWidth: width, clientHeight: height } = renderer.domElement;
    this.layer.classList.toggle("hidden", !points.shown);
    if (!points.shown) return;
    place(this.layer, { width, height });
    points.project(camera, width, height);
    this.discs.forEach((disc, k) => {
      const { x, y, front, visible } = points.handles[k];
      if (visible) place(disc, { cx: x, cy: y });
      const kinds = { hidden: !visible, back: !front, selected: k === points.selected, hovered: k === points.hovered };
      for (const [kind, on] of Object.entries(kinds)) disc.classList.toggle(kind, on);
    });
    this.showLabel(points);
    this.showTarget(points, width, height);
  }

  dispose(): void {
    this.layer.remove();
  }

  /** The name of the point below the pointer. */
  private showLabel({ hovered, handles, names }: PointEditing): void {
    this.label.textContent = names[hovered] ?? "";
    if (hovered >= 0) place(this.label, { x: handles[hovered].x + 12, y: handles[hovered].y - 10 });
  }

  /** A line to what the selected point was dragged to, where the surface does not reach it. */
  private showTarget(points: PointEditing, width: number, height: number): void {
    const { selected, handles } = points;
    const camera = this.stage?.camera;
    const target = selected >= 0 && camera ? points.target(selected).project(camera) : null;
    const x = target ? ((target.x + 1) * width) / 2 : 0;
    const y = target ? ((1 - target.y) * height) / 2 : 0;
    const apart = target !== null && Math.hypot(x - handles[selected].x, y - handles[selected].y) > APART;
    for (const part of [this.line, this.ring]) part.classList.toggle("hidden", !apart);
    if (!apart) return;
    place(this.line, { x1: handles[selected].x, y1: handles[selected].y, x2: x, y2: y });
    place(this.ring, { cx: x, cy: y });
  }
}
