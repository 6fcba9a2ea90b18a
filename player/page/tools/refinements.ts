/** What refines the surface: corrections, detail, and how closely it follows control points. */

import { element, slider, tick } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** The least and the largest beta of the slider, as powers of ten. */
const [LEAST, MOST] = [-2, 3];

export class Refinements implements Tool {
  private stage: Stage | null = null;
  /** A beta to set with the next frame: each one takes work that grows with the bones. */
  private beta: number | null = null;

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const [skin] = stage.skins;
    const row = element("div", "row");
    for (const [kind, present] of [
      ["corrections", skin.hasCorrections],
      ["detail", skin.hasDetail],
    ] as const) {
      if (!present) continue;
      const shown = tick(kind, (on) => {
        skin[kind] = on;
      });
      shown.input.checked = skin[kind];
      row.append(shown.row);
      panel.keys(`${kind[0]} ${kind}`, { [kind[0]]: () => shown.input.click() });
    }
    if (row.childElementCount) panel.append(row);
    if (skin.beta === null) return;
    const start = Math.log10(skin.beta);
    const set = (power: number) => {
      this.beta = 10 ** power;
    };
    panel.append(slider("beta", Math.min(LEAST, start), Math.max(MOST, start), 0.01, start, set, inWords).row);
  }

  update(): void {
    if (this.stage && this.beta !== null) this.stage.skins[0].beta = this.beta;
    this.beta = null;
  }
}

/** A power of ten as the number that it is. */
function inWords(power: number): string {
  return `${Number((10 ** power).toPrecision(2))}`;
}
