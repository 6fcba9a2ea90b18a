/** Fields for the radii along the joints and controls of a layer, which hold for all its sculpts. */

import { element, numberField } from "../page/elements.js";
import type { Control } from "./influence.js";
import type { Project } from "./project.js";
import { UNITS } from "./units.js";

/** The name under which a project has the radius of all other joints and controls. */
const EVERY = "*";

export class ControlRadii {
  readonly box = element("details", "control-radii");
  private readonly list = element("div", "column");

  constructor(private readonly project: Project) {
    const hint = element("p", "hint", "They hold for all sculpts of the layer that have no radius of their own.");
    this.box.append(element("summary", "", "radii of the layer"), hint, this.list);
  }

  show(controls: Control[]): void {
    this.list.replaceChildren(...controls.map((control) => this.field(control)));
  }

  private field({ name, unit, scale }: Control): HTMLElement {
    const radii = this.project.info?.radii ?? {};
    const { symbol, factor } = UNITS[unit];
    const shown = (radius: number) => Number((radius * scale * factor).toPrecision(3));
    const none = EVERY in radii ? `${shown(radii[EVERY])}` : "auto";
    const field = numberField(name, none, symbol, (value) => {
      const radius = value === null ? null : value / factor / scale;
      this.project.do("control_radius", { name, radius });
    });
    field.value = name in radii ? shown(radii[name]) : null;
    field.input.disabled = !this.project.mayEdit;
    return field.row;
  }
}
