/** Signals of a layer over time, beside the joints that drive them; each can be muted, weakened or exaggerated. */

import { element, menu, slider, tick } from "../../page/elements.js";
import type { Slider } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import { lineChart } from "../line_chart.js";
import type { Line } from "../line_chart.js";
import { foldingBox } from "../folding_box.js";
import type { Arrays, Data, Link } from "../link.js";
import { lineOf, read, readFloats, readList, readObjects } from "../reading.js";

/** The most lines in a chart: those of the signals that move the skin most. */
const MOST_LINES = 8;

/** What a signal can be multiplied by at most. */
const STRONGEST = 2;

/** The inputs of a signal. */
interface Row {
  strength: Slider;
  mute: HTMLInputElement;
}

export class SignalsPanel implements Tool {
  private layer = 0;
  private names: string[] = [];
  private scales: number[] = [];
  private inputs: Row[] = [];
  /** The number of the last question; answers to earlier ones come too late. */
  private asked = 0;
  /** Whether an edit is on its way, and whether the scales have changed since. */
  private sending = false;
  private stale = false;
  private readonly layers = element("div", "row");
  private readonly charts = element("div", "charts");
  private readonly rows = element("div", "signals");
  private readonly problem = element("p", "problem");

  constructor(private readonly link: Link) {}

  mount(_stage: Stage, panel: Panel): void {
    const { box, refresh } = foldingBox("Signals", "signals-panel", () => void this.load());
    box.append(this.layers, this.charts, this.rows, this.problem);
    panel.append(box);
    panel.onDispose(this.link.on("skin", refresh));
    refresh();
  }

  /** Ask which layers the skin has. */
  private async load(): Promise<void> {
    try {
      const { ok } = await this.link.request("figures", { what: "skin" });
      const labels = readObjects(ok, "layers").map((layer) => read(layer, "label", "string"));
      this.layer = Math.min(this.layer, Math.max(0, labels.length - 1));
      const list = menu(labels[0] ?? "no layers", labels.slice(1), (index) => {
        this.layer = index + 1;
        void this.ask();
      });
      list.chosen = this.layer - 1;
      this.layers.replaceChildren(list.list);
      this.layers.hidden = labels.length < 2;
      if (labels.length) await this.ask();
      else this.empty();
    } catch (error) {
      this.problem.textContent = lineOf(error);
    }
  }

  private empty(): void {
    this.charts.replaceChildren(element("p", "hint", "The skin has no layers, so it has no signals."));
    this.rows.replaceChildren();
    this.names = [];
  }

  /** Ask for the signals of the layer. */
  private async ask(): Promise<void> {
    const question = ++this.asked;
    try {
      const { ok, arrays } = await this.link.request("figures", { what: "signals", layer: this.layer });
      if (question !== this.asked) return;
      this.problem.textContent = "";
      this.charts.replaceChildren(...charts(ok, arrays));
      if (!this.sending) this.show(ok);
    } catch (error) {
      this.problem.textContent = lineOf(error);
    }
  }

  /** Show the scales. A slider that may be under the pointer is not replaced. */
  private show(ok: Data): void {
    const names = readList(ok, "names", "string");
    const shares = readList(ok, "shares", "number");
    this.scales = readList(ok, "scales", "number");
    if (names.join() === this.names.join()) {
      this.inputs.forEach(({ strength, mute }, k) => {
        if (strength.value !== this.scales[k]) strength.value = this.scales[k];
        mute.checked = this.scales[k] === 0;
      });
      return;
    }
    this.names = names;
    this.inputs = [];
    this.rows.replaceChildren(...names.map((_, k) => this.row(k, shares[k] ?? 0)));
  }

  private row(k: number, share: number): HTMLElement {
    const strength = slider(
      `signal ${k + 1}`,
      0,
      STRONGEST,
      0.05,
      this.scales[k],
      (value) => this.scale(k, value),
      "×",
    );
    let before = this.scales[k] || 1;
    const mute = tick("mute", (on) => {
      before = strength.value || before;
      strength.value = on ? 0 : before;
      this.scale(k, strength.value);
    });
    mute.input.checked = this.scales[k] === 0;
    strength.row.addEventListener("input", () => {
      mute.input.checked = strength.value === 0;
    });
    strength.row.title = `${(100 * share).toFixed(1)} % of the layer's energy`;
    for (const input of [mute.input, ...strength.row.querySelectorAll("input")]) input.disabled = !this.link.editor;
    this.inputs.push({ strength, mute: mute.input });
    const row = element("div", `signal line${k % MOST_LINES}`);
    row.append(element("span", "swatch"), strength.row, mute.row);
    return row;
  }

  private scale(k: number, value: number): void {
    this.scales[k] = value;
    this.stale = true;
    if (!this.sending) void this.send();
  }

  /** Send the scales; those of a slider that moves on are sent when the answer has come. */
  private async send(): Promise<void> {
    this.sending = true;
    try {
      while (this.stale) {
        this.stale = false;
        const changed = this.names.map((name, k) => [name, this.scales[k]] as const);
        await this.link.request("edit_skin", { scales: Object.fromEntries(changed) });
        await this.ask();
      }
    } catch (error) {
      this.problem.textContent = lineOf(error);
    }
    this.sending = false;
  }
}

/** The charts of the signals, and of the joints and controls that drive them. */
function charts(words: Data, arrays: Arrays): Node[] {
  const times = [...readFloats(arrays, "times")];
  const names = readList(words, "names", "string");
  const shares = readList(words, "shares", "number");
  const strongest = new Set(
    names
      .map((_, k) => k)
      .sort((a, b) => shares[b] - shares[a])
      .slice(0, MOST_LINES),
  );
  const signals = linesOf(names, readFloats(arrays, "signals"), times.length).filter((_, k) => strongest.has(k));
  const more = names.length - signals.length;
  const title = more > 0 ? `signals, the ${signals.length} strongest of ${names.length}` : "signals";
  const made: Node[] = [element("p", "hint", title), lineChart(title, "", times, signals)];
  const driving = [
    ["joints", "angles", "rotation from rest", "°"],
    ["controls", "values", "controls", ""],
  ] as const;
  for (const [kind, array, what, unit] of driving) {
    const lines = linesOf(readList(words, kind, "string"), readFloats(arrays, array), times.length);
    if (!lines.length) continue;
    const key = element("ul", "key");
    for (const { name, look } of lines) {
      const entry = element("li", `line${look}`);
      entry.append(element("span", "swatch"), element("span", "", name));
      key.append(entry);
    }
    made.push(element("p", "hint", what), lineChart(what, unit, times, lines), key);
  }
  return made;
}

/** Lines from an array of as many rows as there are poses, with a column of each name. */
function linesOf(names: string[], values: Float32Array, rows: number): Line[] {
  return names.map((name, k) => ({
    name,
    look: k % MOST_LINES,
    values: Array.from({ length: rows }, (_, row) => values[row * names.length + k]),
  }));
}
