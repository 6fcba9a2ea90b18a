/** Errors as colours: how far each vertex is from the truth at a pose whose truth is known. */

import { Color, Float32BufferAttribute, SRGBColorSpace } from "three";
import type { BufferAttribute } from "three";

import { bytesOf } from "../data.js";
import type { PageData } from "../data.js";
import type { PoseSkin } from "../../three/index.js";
import { element, tick } from "../elements.js";
import { HEAT, heatColour } from "../heat_colours.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** An error over that of plain skinning above which a pose counts as worse. */
const WORSE = 1.001;

const UNKNOWN = "Errors are known only at the listed poses: choose one to see them.";

/** Whether an error over that of plain skinning says that plain skinning is closer to the truth. */
export function isWorse(ratio: number | undefined): boolean {
  return (ratio ?? 0) > WORSE;
}

interface Looks {
  map: unknown;
  colour: number;
  vertexColors: boolean;
}

export class Heat implements Tool {
  private stage: Stage | null = null;
  private readonly skinErrors: Uint8Array;
  private readonly plainErrors: Uint8Array;
  /** The meshes that are coloured, and how numbers of the skin's vertices become those of theirs. */
  private skin: PoseSkin | null = null;
  /** How many vertices the skin has. */
  private readonly vertices: number;
  /** How the materials look without errors. */
  private usual: Looks[] = [];
  /** The pose whose errors are shown, or -1, and the colours of each mesh there. */
  private shown = -1;
  private colours: { skin: BufferAttribute[]; plain: BufferAttribute[] } | null = null;
  private readonly wanted = tick("show errors as colours", () => this.changed());
  private readonly legend = element("p", "legend");

  constructor(private readonly data: NonNullable<PageData["heat"]>) {
    this.skinErrors = bytesOf(data.skin);
    this.plainErrors = bytesOf(data.plain);
    this.vertices = this.skinErrors.length / data.ratios.length;
  }

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.skin = stage.skins[0];
    this.usual = stage.materials.map(({ map, color, vertexColors }) => ({ map, colour: color.getHex(), vertexColors }));
    panel.append(this.wanted.row, this.scale(), this.legend);
    panel.keys("h errors", { h: () => this.wanted.input.click() });
  }

  changed(): void {
    if (!this.stage) return;
    const { source } = this.stage.posing;
    const pose = source.kind === "listed" ? source.index : -1;
    const { checked } = this.wanted.input;
    this.show(checked ? pose : -1);
    this.legend.textContent = checked && pose < 0 ? UNKNOWN : this.comparison(pose);
    this.legend.hidden = !this.legend.textContent;
  }

  beforeDraw(corrected: boolean): void {
    const colours = corrected ? this.colours?.skin : this.colours?.plain;
    colours?.forEach((attribute, k) => {
      this.skin?.meshes[k].geometry.setAttribute("color", attribute);
    });
  }

  dispose(): void {
    this.show(-1);
  }

  /** The colours from no error to the largest, and what that is. */
  private scale(): HTMLElement {
    const row = element("div", "scale");
    const bar = element("span", "bar");
    bar.style.background = `linear-gradient(to right, ${HEAT.join(", ")})`;
    const { largest, unit } = this.data;
    row.append(element("span", "", "0"), bar, element("span", "", `${Number(largest.toPrecision(2))} ${unit} or more`));
    return row;
  }

  /** Where plain skinning is closer to the truth at a pose, that it is. */
  private comparison(pose: number): string {
    const ratio = this.data.ratios[pose] ?? 0;
    if (!isWorse(ratio)) return "";
    return `The skin is worse than plain skinning here: its error is ${ratio.toPrecision(3)} times as large.`;
  }

  /** Show the errors of a pose, or of none (-1): of the skin, and of plain skinning where that is drawn. */
  private show(pose: number): void {
    if (pose === this.shown) return;
    this.shown = pose;
    const on = pose >= 0;
    this.stage?.materials.forEach((material, k) => {
      material.vertexColors = on || this.usual[k].vertexColors;
      material.map = on ? null : (this.usual[k].map as typeof material.map);
      material.color.setHex(on ? 0xffffff : this.usual[k].colour);
      material.needsUpdate = true;
    });
    this.colours = on ? { skin: this.coloursOf(this.skinErrors), plain: this.coloursOf(this.plainErrors) } : null;
  }

  /** The colours of each mesh at the pose that is shown. */
  private coloursOf(errors: Uint8Array): BufferAttribute[] {
    const start = this.shown * this.vertices;
    const shown = Float64Array.from(errors.subarray(start, start + this.vertices));
    return (this.skin?.spread(shown) ?? []).map((values) => {
      const colours = new Float32Array(3 * values.length);
      values.forEach((error, vertex) => {
        // Colours of vertices are in linear light.
        const [red, green, blue] = heatColour(error / 255);
        new Color().setRGB(red, green, blue, SRGBColorSpace).toArray(colours, 3 * vertex);
      });
      return new Float32BufferAttribute(colours, 3);
    });
  }
}
