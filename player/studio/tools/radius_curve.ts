/** The influence of the chosen sculpt: its curve, where the pose is on it now, and the radii that shape it. */

import { button, element, numberField } from "../../page/elements.js";
import type { NumberField } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import { ControlRadii } from "../control_radii.js";
import { CurvePlot } from "../curve_plot.js";
import { Influence } from "../influence.js";
import { Latest } from "../latest.js";
import type { Project, ProjectInfo } from "../project.js";
import { UNITS, distanceWords } from "../units.js";

/** The longest radius of the slider, over the distance of the sculpt from rest. */
const LONGEST = 3;

/** About how many steps the slider has. */
const STEPS = 300;

export class RadiusCurve implements Tool {
  private stage: Stage | null = null;
  private curve: Influence | null = null;
  /** What was asked for last. */
  private asked: { info: ProjectInfo | null; name: string; mayEdit: boolean } = {
    info: null,
    name: "",
    mayEdit: false,
  };
  private readonly asking: Latest<string>;
  private readonly section = element("details", "influence");
  private readonly title = element("summary", "", "influence");
  private readonly body = element("div", "column");
  private readonly plot = new CurvePlot();
  private readonly now = element("p", "figures now");
  private readonly why = element("p", "hint");
  private readonly slider = element("input");
  private readonly auto = button("auto", "the radius of its layer", () => this.send(null));
  private readonly field: NumberField;
  private readonly unit: Element | null;
  private readonly radii: ControlRadii;

  constructor(private readonly project: Project) {
    this.asking = new Latest((name) => this.read(name));
    this.field = numberField("radius", "auto", "", (value) => this.send(value === null ? null : value / this.factor));
    this.unit = this.field.row.querySelector(".unit");
    this.radii = new ControlRadii(project);
    Object.assign(this.slider, { type: "range", min: "0" });
    this.slider.setAttribute("aria-label", "radius of the sculpt");
    this.slider.addEventListener("input", () => this.preview());
    this.slider.addEventListener("change", () => this.send(Number(this.slider.value) / this.factor));
  }

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const row = element("div", "row radius-row");
    row.append(this.field.row, this.auto);
    this.section.open = true;
    this.body.append(this.plot.picture, this.now, this.slider, row, this.radii.box);
    this.section.append(this.title, this.why, this.body);
    panel.append(this.section);
    panel.onDispose(this.project.onChange(() => this.changed()));
  }

  changed(): void {
    const { info, chosen: name, mayEdit } = this.project;
    if (info === this.asked.info && name === this.asked.name && mayEdit === this.asked.mayEdit) return;
    this.asked = { info, name, mayEdit };
    this.section.hidden = !name;
    if (name) this.asking.want(name);
  }

  /** Where the pose is needs no server: a clip moves it with every frame. */
  afterDraw(): void {
    const { curve, stage } = this;
    if (!curve || !stage || !this.section.open) return;
    const [skin] = stage.skins;
    const [along, weight] = [curve.along(skin), curve.weightIn(skin)];
    this.plot.follow(along, weight);
    const words = weight === null ? "not in the skin that is shown" : `weight ${weight.toFixed(2)}`;
    this.now.textContent = `now ${distanceWords(along, UNITS[curve.unit])} from rest, ${words}`;
  }

  /** What the page shows of a distance of 1. */
  private get factor(): number {
    return UNITS[this.curve?.unit ?? "control"].factor;
  }

  private async read(name: string): Promise<void> {
    try {
      this.curve = new Influence(name, await this.project.link.request("influence", { name }));
      this.why.textContent = "";
    } catch (error) {
      this.curve = null;
      this.why.textContent = error instanceof Error ? error.message : String(error);
    }
    this.show();
  }

  private show(): void {
    const { curve, project } = this;
    this.title.textContent = `influence of ‘${curve?.name ?? project.chosen}’`;
    this.body.hidden = !curve;
    this.why.hidden = !!curve;
    if (!curve) return;
    this.plot.show(curve);
    this.radii.show(curve.controls);
    const own = project.info?.sculpts.find(({ name }) => name === curve.name)?.radius ?? null;
    const { symbol, factor } = UNITS[curve.unit];
    const longest = LONGEST * curve.own * factor;
    const step = 10 ** Math.floor(Math.log10((3 * longest) / STEPS));
    Object.assign(this.slider, {
      min: `${step}`,
      max: `${longest}`,
      step: `${step}`,
      value: `${curve.radius * factor}`,
    });
    this.field.value = own === null ? null : own * curve.scale * factor;
    if (this.unit) this.unit.textContent = symbol;
    for (const part of [this.slider, this.field.input]) part.disabled = !project.mayEdit;
    this.auto.disabled = !project.mayEdit || own === null;
    this.stage?.wake();
  }

  /** Show a radius while it is dragged. */
  private preview(): void {
    this.field.value = Number(this.slider.value);
    this.plot.showRadius(Number(this.slider.value) / this.factor);
  }

  /** Set the radius, as a distance along the way; null: that of the layer. */
  private async send(distance: number | null): Promise<void> {
    const { curve, project } = this;
    if (!curve) return;
    const radius = distance === null ? null : distance / curve.scale;
    if (!(await project.do("radius", { name: curve.name, radius }))) this.show();
  }
}
