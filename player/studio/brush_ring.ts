/** The ring at the pointer: it lies on the surface, the outer line at the radius, the inner one where half is felt. */

import { Vector3 } from "three";

import type { Picture } from "../page/drag_motion.js";
import { svg } from "../page/elements.js";

const CORNERS = 64;
const HALF = 0.5;

export class BrushRing {
  private readonly drawing = svg("svg");
  private readonly outer = svg("path");
  private readonly inner = svg("path");
  private readonly label = svg("text");

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.drawing.id = "brush";
    this.drawing.setAttribute("aria-hidden", "true");
    this.inner.classList.add("inner");
    this.drawing.append(this.outer, this.inner, this.label);
    document.body.append(this.drawing);
    this.hide();
  }

  /** Show it on the surface, around a position with a normal. */
  show(picture: Picture, position: Vector3, normal: Vector3, radius: number): void {
    const side = new Vector3().crossVectors(normal, Math.abs(normal.x) < 0.5 ? new Vector3(1) : new Vector3(0, 1));
    side.normalize();
    const across = new Vector3().crossVectors(normal, side);
    const at = (angle: number, part: number) =>
      position
        .clone()
        .addScaledVector(side, part * radius * Math.cos(angle))
        .addScaledVector(across, part * radius * Math.sin(angle))
        .project(picture.camera);
    const pixel = (angle: number, part: number): [number, number] => {
      const { x, y } = at(angle, part);
      return [((x + 1) * picture.width) / 2, ((1 - y) * picture.height) / 2];
    };
    this.draw(picture, pixel, "");
  }

  /** Show it flat on the picture, with words at its middle. */
  showFlat(picture: Picture, x: number, y: number, radius: number, words: string): void {
    const pixel = (angle: number, part: number): [number, number] => [
      x + part * radius * Math.cos(angle),
      y + part * radius * Math.sin(angle),
    ];
    this.label.setAttribute("x", `${x}`);
    this.label.setAttribute("y", `${y}`);
    this.draw(picture, pixel, words);
  }

  hide(): void {
    this.drawing.classList.add("hidden");
  }

  dispose(): void {
    this.drawing.remove();
  }

  private draw(
    { width, height }: Picture,
    pixel: (angle: number, part: number) => [number, number],
    words: string,
  ): void {
    const { left, top } = this.canvas.getBoundingClientRect();
    Object.assign(this.drawing.style, { left: `${left}px`, top: `${top}px` });
    this.drawing.classList.remove("hidden");
    this.drawing.setAttribute("width", `${width}`);
    this.drawing.setAttribute("height", `${height}`);
    for (const [path, part] of [[this.outer, 1] as const, [this.inner, HALF] as const]) {
      const corners = Array.from({ length: CORNERS }, (_, k) => pixel((2 * Math.PI * k) / CORNERS, part));
      path.setAttribute("d", `M${corners.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`);
    }
    this.label.textContent = words;
  }
}
