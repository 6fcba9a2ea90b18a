/** What is known of the vertex below the pointer, where that rests: errors, the joints that move it, and the layers. */

import type { Vector3 } from "three";

import type { Source } from "../comparison.js";
import { element } from "../elements.js";
import type { Errors } from "../errors.js";
import { heatColour } from "../heat_colours.js";
import type { Panel } from "../panel.js";
import { pickVertex } from "../picking.js";
import type { PickedVertex } from "../picking.js";
import { nameOf } from "../posing.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";
import type { VertexReading } from "../../three/driven_meshes.js";

/** How long the pointer rests before the vertex is looked for, in milliseconds. */
const REST = 150;

/** Most joints and layers that are listed, and how far the box is from the pointer, in pixels. */
const [MOST, APART] = [6, 16];

/** A row: what it says, its value, and a colour. */
type Row = [name: string, value: string, colour?: string];

export class Readout implements Tool {
  private stage: Stage | null = null;
  private wanted: HTMLInputElement | null = null;
  private timer = 0;
  /** Where the pointer rests over the picture, in pixels. */
  private pointer: { x: number; y: number } | null = null;
  private readonly box = element("dl", "readout");
  private readonly dot = element("span", "picked");

  constructor(private readonly errors: Errors | null) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const canvas = stage.renderer.domElement;
    const listen = (kind: "pointermove" | "pointerup" | "pointerdown" | "pointerleave" | "wheel", rests: boolean) => {
      const heard = (event: PointerEvent | WheelEvent) => this.follow(rests && !event.buttons ? event : null);
      canvas.addEventListener(kind, heard, { passive: true });
      panel.onDispose(() => canvas.removeEventListener(kind, heard));
    };
    listen("pointermove", true);
    listen("pointerup", true);
    listen("wheel", true);
    listen("pointerdown", false);
    listen("pointerleave", false);
    this.wanted = panel.tick("read-out", "i", () => this.wait());
    panel.over(this.dot, this.box);
    this.hide();
  }

  /** Another pose, another error: what is shown is read again. */
  changed(): void {
    this.wait();
  }

  dispose(): void {
    window.clearTimeout(this.timer);
  }

  private follow(event: MouseEvent | null): void {
    this.pointer = event && { x: event.offsetX, y: event.offsetY };
    this.wait();
  }

  private hide(): void {
    this.box.hidden = this.dot.hidden = true;
  }

  /** Read once the pointer has rested. */
  private wait(): void {
    this.hide();
    window.clearTimeout(this.timer);
    if (this.wanted?.checked && this.pointer) this.timer = window.setTimeout(() => this.read(), REST);
  }

  private read(): void {
    const { stage, pointer } = this;
    if (!stage || !pointer || stage.posing.moving) return;
    const { width, height } = stage.picture;
    const source = stage.comparison.at(pointer.x / width);
    stage.show(source);
    stage.scene.updateMatrixWorld();
    const [x, y] = [(2 * pointer.x) / width - 1, 1 - (2 * pointer.y) / height];
    const picked = pickVertex(stage.meshes, stage.camera, x, y);
    const skin = stage.skins.find(({ meshes }) => picked && meshes.includes(picked.mesh));
    if (picked && skin) this.show(picked, skin.readVertex(picked.mesh, picked.index), source);
    // The next frame shows what it compares again.
    stage.wake();
  }

  private show({ position }: PickedVertex, reading: VertexReading, source: Source): void {
    const { stage, pointer } = this;
    if (!stage || !pointer) return;
    const rows = [...this.errorRows(reading, source), ...jointRows(reading), ...this.layerRows(reading)];
    this.box.replaceChildren(
      ...rows.flatMap(([name, value, colour = ""]) => {
        const entry = element("dd", "", value);
        entry.style.borderColor = colour;
        return [element("dt", "", name), entry];
      }),
    );
    this.box.prepend(element("dt", "title", `vertex ${reading.vertex}`));
    this.place(position);
  }

  /** Put the box beside the pointer, within the picture, and the dot on the vertex. */
  private place(position: Vector3): void {
    const { stage, pointer, box, dot } = this;
    if (!stage || !pointer) return;
    const { camera, width, height } = stage.picture;
    const { x, y } = position.clone().project(camera);
    box.hidden = dot.hidden = false;
    dot.style.left = `${((x + 1) * width) / 2}px`;
    dot.style.top = `${((1 - y) * height) / 2}px`;
    const { offsetWidth, offsetHeight } = box;
    const isRight = pointer.x + APART + offsetWidth < width;
    const left = isRight ? pointer.x + APART : pointer.x - APART - offsetWidth;
    const top = Math.min(pointer.y + APART, height - offsetHeight - APART);
    box.style.left = `${Math.max(0, left)}px`;
    box.style.top = `${Math.max(0, top)}px`;
  }

  /** The errors of the source below the pointer and of the others, at a listed pose. */
  private errorRows({ vertex }: VertexReading, below: Source): Row[] {
    const { stage, errors } = this;
    const source = stage?.posing.source;
    if (!stage || !errors || source?.kind !== "listed") return [];
    const { largest, unit } = errors.data;
    const sources = [below, ...stage.comparison.sources.filter((each) => each !== below)];
    return sources.flatMap(({ name, label }): Row[] => {
      const share = errors.share(name, source.index, vertex);
      if (share === undefined) return [];
      const value = `${share < 1 ? "" : "at least "}${(share * largest).toPrecision(2)} ${unit}`;
      const [red, green, blue] = heatColour(share).map((channel) => Math.round(255 * channel));
      return [[`error, ${label}`, value, `rgb(${red} ${green} ${blue})`]];
    });
  }

  /** How far layers and corrections displace it now. */
  private layerRows({ layers, corrections }: VertexReading): Row[] {
    const names = this.stage?.skins[0]?.layers ?? [];
    const lengths = [...layers].map(([layer, length]) => [`layer ${names[layer]}`, length] as const);
    const all = [...lengths, ["corrections", corrections] as const].filter(([, length]) => length > 0);
    all.sort(([, a], [, b]) => b - a);
    const shown = all.slice(0, MOST).map(([name, length]): Row => [name, `${(1000 * length).toPrecision(2)} mm`]);
    return all.length > MOST ? [...shown, ["and other layers", `${all.length - MOST}`]] : shown;
  }
}

function jointRows({ bones }: VertexReading): Row[] {
  const sorted = [...bones].sort((a, b) => b.weight - a.weight).slice(0, MOST);
  return sorted.map(({ bone, node, weight }) => [node ? `joint ${nameOf(node)}` : `bone ${bone}`, inWords(weight)]);
}

function inWords(weight: number): string {
  return weight < 0.01 ? "< 0.01" : weight.toFixed(2);
}
