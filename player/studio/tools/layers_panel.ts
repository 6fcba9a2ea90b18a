/** The layers of the skin: their supports and components in colour on the mesh, and their singular values. */

import { button, element } from "../../page/elements.js";
import { heatColour } from "../../page/heat_colours.js";
import { colourBar } from "../../page/colour_bar.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Rgb } from "../../page/vertex_colours.js";
import { singularBars } from "../bars.js";
import { short } from "../line_chart.js";
import { foldingBox } from "../folding_box.js";
import type { Data, Link } from "../link.js";
import { lineOf, read, readFloats, readList, readObjects, readOrNull } from "../reading.js";

interface Layer {
  name: string;
  label: string;
  drives: string[];
  vertices: number;
  components: number;
  bytes: number;
  singular: number[];
  kept: number | null;
}

/** What is shown of a layer: one of its components, or its support. */
const SUPPORT = -1;

/** The colours of vertices outside a support, and of those that its layer moves most; as in the report. */
const [OUTSIDE, MOST]: [Rgb, Rgb] = [
  [0.8, 0.78, 0.74],
  [0.16, 0.47, 0.74],
];

export class LayersPanel implements Tool {
  private stage: Stage | null = null;
  private panel: Panel | null = null;
  private layers: Layer[] = [];
  /** The layer that is shown, or -1, and what of it. */
  private chosen = -1;
  private component = SUPPORT;
  /** The numbers of the last questions: answers to earlier ones come too late. */
  private loads = 0;
  private paints = 0;
  private bar: HTMLElement | null = null;
  private readonly figures = element("p", "hint");
  private readonly list = element("ul");
  private readonly detail = element("div", "layer-detail");
  private readonly problem = element("p", "problem");

  constructor(private readonly link: Link) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.panel = panel;
    const { box, refresh } = foldingBox("Layers", "layers-panel", () => void this.load());
    box.append(this.figures, this.list, this.detail, this.problem);
    panel.append(box);
    panel.onDispose(this.link.on("skin", refresh));
    refresh();
  }

  changed(): void {
    // Another tool shows its colours.
    if (this.chosen >= 0 && this.bar && this.stage?.colours?.owner !== this) this.choose(-1);
  }

  dispose(): void {
    this.clear();
  }

  /** Ask what the skin is. */
  private async load(): Promise<void> {
    const question = ++this.loads;
    try {
      const { ok } = await this.link.request("figures", { what: "skin" });
      if (question !== this.loads) return;
      const before = this.layers[this.chosen]?.name;
      this.layers = readObjects(ok, "layers").map(readLayer);
      this.figures.textContent = summary(ok, this.layers);
      this.choose(this.layers.findIndex(({ name }) => name === before));
    } catch (error) {
      this.problem.textContent = lineOf(error);
    }
  }

  /** Show a layer's support, or none (-1). */
  private choose(layer: number): void {
    this.chosen = layer;
    this.show(SUPPORT);
    this.list.replaceChildren(...this.layers.map((each, k) => this.row(each, k)));
  }

  private row(layer: Layer, k: number): HTMLElement {
    const row = element("li");
    const pressed = button(layer.label, `driven by ${layer.drives.join(", ")}`, () => {
      this.choose(k === this.chosen ? -1 : k);
    });
    pressed.setAttribute("aria-pressed", `${k === this.chosen}`);
    row.append(pressed, element("output", "", `${layer.components} × ${layer.vertices.toLocaleString("en")}`));
    return row;
  }

  /** Show a component of the chosen layer, or its support. */
  private show(component: number): void {
    this.component = component;
    this.problem.textContent = "";
    const layer = this.layers[this.chosen];
    this.detail.replaceChildren(...(layer ? this.details(layer) : []));
    if (layer) void this.paint();
    else this.clear();
  }

  private details(layer: Layer): Node[] {
    const { components, singular, kept, bytes } = layer;
    const share = kept === null ? "" : `, ${(100 * kept).toFixed(1)} % of the energy`;
    const words = `${components} of ${singular.length} components stored${share}; ${bytes.toLocaleString("en")} bytes`;
    const support = button("support", "where the layer acts", () => this.show(SUPPORT));
    support.setAttribute("aria-pressed", `${this.component === SUPPORT}`);
    const shown = this.component === SUPPORT ? "or a component:" : `component ${this.component + 1}`;
    const row = element("div", "row");
    row.append(support, element("span", "hint", shown));
    const bars = singularBars(singular, components, this.component, (component) => this.show(component));
    return [element("p", "hint", words), row, bars, element("p", "hint", "singular values, logarithmic")];
  }

  /** Colour the mesh with what is shown. */
  private async paint(): Promise<void> {
    const question = ++this.paints;
    const { chosen: layer, component } = this;
    try {
      const isSupport = component === SUPPORT;
      const data = isSupport ? { what: "support", layer } : { what: "component", layer, component };
      const { ok, arrays } = await this.link.request("figures", data);
      if (question !== this.paints) return;
      const values = Float64Array.from(readFloats(arrays, isSupport ? "weights" : "sizes"));
      if (isSupport) this.colour(values, supportColour, null);
      else {
        const largest = read(ok, "largest", "number") || 1;
        this.colour(values, (size) => heatColour(size / largest), colourBar(1000 * largest, "mm", "displacement"));
      }
    } catch (error) {
      this.problem.textContent = lineOf(error);
    }
  }

  private colour(values: Float64Array, colour: (value: number) => Rgb, bar: HTMLElement | null): void {
    const { stage, panel } = this;
    const colours = stage?.colours;
    if (!stage || !panel || !colours) return;
    colours.show(this, colours.of(values, colour));
    this.bar?.remove();
    this.bar = bar ?? element("figure", "colour-bar");
    if (!bar) this.bar.append(element("figcaption", "", "the bluer, the further the layer may move it"));
    panel.over(this.bar);
    stage.notify();
  }

  private clear(): void {
    this.paints++;
    this.bar?.remove();
    this.bar = null;
    this.stage?.colours?.hide(this);
    this.stage?.wake();
  }
}

function readLayer(data: Data): Layer {
  return {
    name: read(data, "name", "string"),
    label: read(data, "label", "string"),
    drives: readList(data, "drives", "string"),
    vertices: read(data, "vertices", "number"),
    components: read(data, "components", "number"),
    bytes: read(data, "bytes", "number"),
    singular: readList(data, "singular", "number"),
    kept: readOrNull(data, "kept", "number"),
  };
}

/** The errors and bytes of a skin in one line. */
function summary(data: Data, layers: Layer[]): string {
  if (!layers.length) return "The skin has no layers.";
  const bytes = `${short(read(data, "bytes_per_vertex", "number"))} bytes per vertex`;
  const [error, left] = ["error", "cross_validated"].map((name) => readOrNull(data, name, "number"));
  const errors = [error === null ? "" : `error ${short(error)}`, left === null ? "" : `${short(left)} left out`];
  const parts = [`${layers.length} layers: components × vertices`, ...errors, bytes];
  return parts.filter(Boolean).join("; ");
}

function supportColour(weight: number): Rgb {
  const mixed = (k: number) => OUTSIDE[k] + weight * (MOST[k] - OUTSIDE[k]);
  return [mixed(0), mixed(1), mixed(2)];
}
