/** Errors as colours: how far each vertex is from the truth at a pose whose truth is known. */

import type { BufferAttribute } from "three";

import { colourBar } from "../colour_bar.js";
import type { Source } from "../comparison.js";
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

export class Heat implements Tool {
  private stage: Stage | null = null;
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
    this.wanted = panel.tick("errors as colours", "h", () => stage.notify());
    panel.append(this.legend);
    panel.over(this.bar);
  }

  changed(): void {
    if (!this.stage || !this.wanted) return;
    const { source } = this.stage.posing;
    const pose = source.kind === "listed" ? source.index : -1;
    // Another tool shows its colours.
    if (this.shown >= 0 && this.stage.colours?.owner !== this) this.wanted.checked = false;
    const { checked } = this.wanted;
    this.show(checked ? pose : -1);
    this.bar.hidden = this.shown < 0;
    this.legend.textContent = checked && pose < 0 ? UNKNOWN : this.comparison(pose);
    this.legend.hidden = !this.legend.textContent;
  }

  beforeDraw({ name }: Source): void {
    if (this.shown >= 0) this.paint(name);
  }

  dispose(): void {
    this.show(-1);
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
    if (pose < 0) this.stage.colours?.hide(this);
    else this.paint("skin");
  }

  /** Show the errors of a source. */
  private paint(name: string): void {
    const colours = this.colours.get(name) ?? this.coloursOf(name);
    this.colours.set(name, colours);
    this.stage?.colours?.show(this, colours);
  }

  /** The colours of each mesh at the pose that is shown. */
  private coloursOf(source: string): BufferAttribute[] {
    return this.stage?.colours?.of(this.errors.shares(source, this.shown), heatColour) ?? [];
  }
}
