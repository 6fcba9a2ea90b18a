/** What refines the surface: corrections, detail, and how closely it follows control points. */

import { element, slider, tick } from "../elements.js";
import type { Slider } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** The least and the largest beta of the slider, as powers of ten. */
const [LEAST, MOST] = [-2, 3];

/** A step of the slider, as a power of ten: the one nearest to the beta of the fit is exactly that. */
const STEP = 0.1;

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
        stage.skins[0][kind] = on;
      });
      shown.input.checked = skin[kind];
      row.append(shown.row);
      panel.keys(`${kind[0]} ${kind}`, { [kind[0]]: () => shown.input.click() });
    }
    if (row.childElementCount) panel.append(row);
    if (skin.beta !== null) panel.append(this.betaSlider(skin.beta).row);
  }

  update(): void {
    if (this.stage && this.beta !== null) this.stage.skins[0].beta = this.beta;
    this.beta = null;
  }

  /** A slider over powers of ten; a double click brings back the beta of the fit. */
  private betaSlider(fitted: number): Slider {
    const start = Math.log10(fitted);
    const beta = slider(
      "beta",
      Math.min(LEAST, start),
      Math.max(MOST, start),
      STEP,
      start,
      (power) => set(power),
      inWords,
    );
    const set = (power: number) => {
      const isFitted = Math.abs(power - start) < STEP / 2;
      this.beta = isFitted ? fitted : 10 ** power;
      if (isFitted) beta.value = start;
    };
    beta.row.title = `how closely the surface follows the points; a double click brings back ${inWords(start)}`;
    beta.row.addEventListener("dblclick", () => set(start));
    return beta;
  }
}

/** A power of ten as the number that it is. */
function inWords(power: number): string {
  return `${Number((10 ** power).toPrecision(2))}`;
}
