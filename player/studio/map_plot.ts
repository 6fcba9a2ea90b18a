/** A drawing of a plane of poses: the sculpts as dots that are buttons, rest, and a cross where the pose is now. */

import { button, element, place, svg } from "../page/elements.js";
import type { Dot, PosePlane } from "./pose_plane.js";

/** The drawing's size, in its own pixels, and the margin around what it shows. */
const [WIDTH, HEIGHT] = [268, 190];
const MARGIN = 34;

/** Half the size of the cross: it is seen around a dot. */
const CROSS = 13;

export interface Point {
  x: number;
  y: number;
}

/** What the pointer does on the map. */
export interface MapUser {
  begin(point: Point): void;
  move(point: Point): void;
  end(): void;
  cancel(): void;
  /** A sculpt's dot was clicked. */
  choose(name: string): void;
}

export class MapPlot {
  readonly box = element("div", "map");
  private readonly picture = svg("svg");
  private readonly axes = [svg("line", "axis"), svg("line", "axis")];
  /** Above the dots. */
  private readonly front = svg("svg", "front");
  private readonly cross = svg("path", "now");
  private readonly label = element("span", "map-name");
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private middle = { x: 0, y: 0 };
  /** Pixels per step of the plane. */
  private scale = 1;
  private chosen = "";

  constructor(private readonly user: MapUser) {
    for (const picture of [this.picture, this.front]) picture.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.picture.setAttribute("role", "img");
    this.picture.setAttribute("aria-label", "the poses of the sculpts, and a cross at the pose now");
    this.front.setAttribute("aria-hidden", "true");
    this.picture.append(...this.axes);
    this.front.append(this.cross);
    this.box.append(this.picture, this.front, this.label);
    this.listen();
  }

  /** Draw a plane. */
  show({ dots }: PosePlane): void {
    this.fit(dots);
    const rest = this.pixel({ x: 0, y: 0 });
    place(this.axes[0], { x1: 0, x2: WIDTH, y1: rest.y, y2: rest.y });
    place(this.axes[1], { x1: rest.x, x2: rest.x, y1: 0, y2: HEIGHT });
    for (const [name, old] of this.buttons) if (!dots.some((dot) => dot.name === name)) this.drop(name, old);
    for (const dot of dots) this.put(dot);
    this.mark(this.chosen);
  }

  /** Mark the sculpt that is chosen. */
  mark(chosen: string): void {
    this.chosen = chosen;
    for (const [name, dot] of this.buttons) dot.setAttribute("aria-pressed", `${name === chosen}`);
    this.name(chosen);
  }

  /** Show where the pose is; beyond the drawing, at its edge. */
  follow(point: Point): void {
    const { x, y } = this.pixel(point);
    const [at, high] = [within(x, WIDTH), within(y, HEIGHT)];
    const path = `M${(at - CROSS).toFixed(1)} ${high.toFixed(1)}h${2 * CROSS}M${at.toFixed(1)} ${(high - CROSS).toFixed(1)}v${2 * CROSS}`;
    if (this.cross.getAttribute("d") !== path) this.cross.setAttribute("d", path);
    this.cross.classList.toggle("beyond", at !== x || high !== y);
  }

  /** Choose a scale at which rest and all dots are seen, the same along both axes. */
  private fit(dots: Dot[]): void {
    const [xs, ys] = [
      [0, ...dots.map(({ x }) => x)],
      [0, ...dots.map(({ y }) => y)],
    ];
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    this.middle = { x: (left + right) / 2, y: (low + high) / 2 };
    const most = Math.max((right - left) / (WIDTH - 2 * MARGIN), (high - low) / (HEIGHT - 2 * MARGIN));
    this.scale = most > 0 ? 1 / most : WIDTH;
  }

  private pixel({ x, y }: Point): Point {
    return {
      x: WIDTH / 2 + this.scale * (x - this.middle.x),
      y: HEIGHT / 2 - this.scale * (y - this.middle.y),
    };
  }

  /** Place the button of a dot, a new one where there is none; one that has the focus keeps it. */
  private put(dot: Dot): void {
    const known = this.buttons.get(dot.name) ?? this.make(dot.name);
    const { x, y } = this.pixel(dot);
    known.style.left = `${(100 * x) / WIDTH}%`;
    known.style.top = `${(100 * y) / HEIGHT}%`;
    known.classList.toggle("muted", dot.muted);
    known.classList.toggle("off", dot.off);
    const words = [dot.name, dot.muted && "muted", dot.off && "off this plane"];
    known.setAttribute("aria-label", words.filter((word) => word).join(", "));
  }

  private make(name: string): HTMLButtonElement {
    const made = button("", name, () => this.user.choose(name));
    for (const kind of ["pointerenter", "focus"]) made.addEventListener(kind, () => this.name(name));
    for (const kind of ["pointerleave", "blur"]) made.addEventListener(kind, () => this.name(this.chosen));
    this.buttons.set(name, made);
    this.front.before(made);
    return made;
  }

  private drop(name: string, old: HTMLButtonElement): void {
    this.buttons.delete(name);
    old.remove();
  }

  /** Show a name beside its dot, on the side where there is room. */
  private name(name: string): void {
    const dot = this.buttons.get(name);
    this.label.hidden = !dot;
    if (!dot) return;
    const left = Number.parseFloat(dot.style.left);
    this.label.textContent = dot.getAttribute("aria-label");
    this.label.style.top = dot.style.top;
    this.label.style.left = left > 50 ? "auto" : `calc(${left}% + 10px)`;
    this.label.style.right = left > 50 ? `calc(${100 - left}% + 10px)` : "auto";
  }

  private listen(): void {
    const { picture, user } = this;
    const holds = (event: PointerEvent) => picture.hasPointerCapture(event.pointerId);
    picture.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      picture.setPointerCapture(event.pointerId);
      user.begin(this.pointed(event));
    });
    picture.addEventListener("pointermove", (event) => holds(event) && user.move(this.pointed(event)));
    picture.addEventListener("pointerup", (event) => holds(event) && user.end());
    picture.addEventListener("pointercancel", () => user.cancel());
  }

  /** The point of the plane below the pointer. */
  private pointed({ clientX, clientY }: PointerEvent): Point {
    const { left, top, width, height } = this.picture.getBoundingClientRect();
    const x = ((clientX - left) / width) * WIDTH;
    const y = ((clientY - top) / height) * HEIGHT;
    return {
      x: this.middle.x + (x - WIDTH / 2) / this.scale,
      y: this.middle.y - (y - HEIGHT / 2) / this.scale,
    };
  }
}

function within(value: number, most: number): number {
  return Math.min(most - 2, Math.max(2, value));
}
