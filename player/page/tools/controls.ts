/** Sliders for the controls of the pose: what no bone shows, such as a smile. */

import { element, slider } from "../elements.js";
import type { Slider } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Controls implements Tool {
  private stage: Stage | null = null;
  private readonly sliders: { slider: Slider; name: string }[] = [];

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const list = element("div", "controls");
    for (const name of Object.keys(stage.skins[0].controls)) {
      const control = slider(name, 0, 1, 0.01, 0, (value) => {
        stage.posing.begin();
        stage.skins[0].controls[name] = value;
        stage.posing.hold();
      });
      this.sliders.push({ slider: control, name });
      list.append(control.row);
    }
    list.addEventListener("change", () => stage.posing.end());
    panel.append(list);
  }

  changed(): void {
    const controls = this.stage?.skins[0].controls;
    if (!controls) return;
    for (const { slider, name } of this.sliders) slider.value = Math.round(100 * controls[name]) / 100;
  }
}
