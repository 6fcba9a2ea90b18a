/** Errors as colours: how far each vertex is from the truth at a pose whose truth is known. */

import { Color, Float32BufferAttribute, SRGBColorSpace } from "three";
import type { BufferAttribute, InterleavedBufferAttribute } from "three";

import { colourBar } from "../colour_bar.js";
import type { Source } from "../comparison.js";
import type { PoseSkin } from "../../three/index.js";
import { element } from "../elements.js";
import type { Errors } from "../errors.js";
import { heatColour } from "../heat_colours.js";
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

type Attribute = BufferAttribute | InterleavedBufferAttribute;

export class Heat implements Tool {
  private stage: Stage | null = null;
  /** The meshes that are coloured, and how numbers of the skin's vertices become those of theirs. */
  private skin: PoseSkin | null = null;
  /** The colours that the file gives the vertices of each mesh, if any. */
  private own: (Attribute | undefined)[] = [];
  /** The pose whose errors are shown, or -1, which errors these were, and by source the colours of each mesh there. */
  private shown = -1;
  private revision = 0;
  private readonly colours = new Map<string, BufferAttribute[]>();
  private wanted: HTMLInputElement | null = null;
  private readonly bar: HTMLElement;
  private readonly legend = element("p", "legend");

  constructor(private readonly errors: Errors) {
    this.bar = colourBar(errors.data.largest, errors.data.unit);
  }

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.follow(stage.skins[0]);
    this.wanted = panel.tick("errors as colours", "h", () => stage.notify());
    panel.append(this.legend);
    panel.over(this.bar);
  }

  changed(): void {
    if (!this.stage || !this.wanted) return;
    this.follow(this.stage.skins[0]);
    const { source } = this.stage.posing;
    const pose = source.kind === "listed" ? source.index : -1;
    const { checked } = this.wanted;
    this.show(checked ? pose : -1);
    this.bar.hidden = this.shown < 0;
    this.legend.textContent = checked && pose < 0 ? UNKNOWN : this.comparison(pose);
    this.legend.hidden = !this.legend.textContent;
  }

  beforeDraw({ name }: Source): void {
    if (this.shown < 0) return;
    const colours = this.colours.get(name) ?? this.coloursOf(name);
    this.colours.set(name, colours);
    this.paint(colours);
  }

  dispose(): void {
    this.show(-1);
  }

  /** Colour the meshes of a skin, which may have taken the place of another. */
  private follow(skin: PoseSkin): void {
    if (skin === this.skin) return;
    this.skin = skin;
    this.own = skin.meshes.map(({ geometry }) => geometry.getAttribute("color"));
    this.colours.clear();
  }

  /** Where plain skinning is closer to the truth at a pose, that it is. */
  private comparison(pose: number): string {
    const ratio = this.errors.data.ratios[pose] ?? 0;
    if (!isWorse(ratio)) return "";
    return `The skin is worse than plain skinning here: its error is ${ratio.toPrecision(3)} times as large.`;
  }

  /** Show the errors of a pose, or of none (-1). */
  private show(pose: number): void {
    const { revision } = this.errors;
    if (!this.stage || (pose === this.shown && revision === this.revision)) return;
    this.shown = pose;
    this.revision = revision;
    this.colours.clear();
    if (pose < 0) this.paint(this.own);
    this.stage.looks.coloured = pose >= 0;
  }

  private paint(colours: (Attribute | undefined)[]): void {
    this.skin?.meshes.forEach(({ geometry }, k) => {
      const colour = colours[k];
      if (colour) geometry.setAttribute("color", colour);
      else geometry.deleteAttribute("color");
    });
  }

  /** The colours of each mesh at the pose that is shown. */
  private coloursOf(source: string): BufferAttribute[] {
    const shown = this.errors.shares(source, this.shown);
    return (this.skin?.spread(shown) ?? []).map((values) => {
      const colours = new Float32Array(3 * values.length);
      values.forEach((error, vertex) => {
        // Colours of vertices are in linear light.
        const [red, green, blue] = heatColour(error);
        new Color().setRGB(red, green, blue, SRGBColorSpace).toArray(colours, 3 * vertex);
      });
      return new Float32BufferAttribute(colours, 3);
    });
  }
}
