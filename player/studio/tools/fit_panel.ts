/** Fits the skin anew: a method, its settings, progress, cancelling, and the fits so far to compare. */

import { button, choice, element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import { fitScatter } from "../fit_scatter.js";
import { fitTable } from "../fit_table.js";
import { readFit, readMethods } from "../fits.js";
import type { Fit, Method } from "../fits.js";
import { short } from "../line_chart.js";
import { foldingBox } from "../folding_box.js";
import type { Data, Link } from "../link.js";
import { lineOf, read, readObjects, readOrNull } from "../reading.js";
import { SettingInputs } from "../setting_inputs.js";

/** The settings that one tries first; the others are folded away. */
const FIRST = new Set(["components", "budget", "bits", "signals", "kernel", "radius", "points", "bones"]);

/** Of many notes of a fit, as many are shown. */
const MOST_NOTES = 3;

export class FitPanel implements Tool {
  private method: Method | null = null;
  private inputs = new SettingInputs([]);
  private fits: Fit[] = [];
  /** The number of the fit whose skin is shown; 0 where it comes from elsewhere. */
  private current = 0;
  private readonly methods = element("div");
  private readonly form = element("div", "settings");
  private readonly start = button("fit", "fit the skin to the examples", () => this.fit());
  private readonly stop = button("cancel", "end the fit at once", () => this.ask("cancel"));
  private readonly bar = element("progress");
  private readonly step = element("p", "status");
  private readonly said = element("div", "said");
  private readonly earlier = element("div", "earlier");

  constructor(private readonly link: Link) {}

  mount(_stage: Stage, panel: Panel): void {
    const buttons = element("div", "row");
    buttons.append(this.start, this.stop);
    const { box, refresh } = foldingBox("Fit", "fit-panel", () => void this.load());
    box.append(this.methods, this.form, buttons, this.bar, this.step, this.said, this.earlier);
    panel.append(box);
    const heard = {
      progress: (data: Data) => this.advance(data),
      fitted: (data: Data) => this.finish(data),
      failed: (data: Data) => this.end(read(data, "error", "string")),
      cancelled: () => this.end("Cancelled. The skin is as before.", "hint"),
      skin: () => box.open && void this.follow(),
    };
    for (const [event, listener] of Object.entries(heard)) panel.onDispose(this.link.on(event, listener));
    this.run(false);
    refresh();
  }

  /** Ask what can be fitted, and what has been. */
  private async load(): Promise<void> {
    try {
      const [choices, past] = await Promise.all([this.figures("methods"), this.figures("fits")]);
      const methods = readMethods(choices);
      this.fits = readObjects(past, "fits").map(readFit);
      this.current = readOrNull(past, "current", "number") ?? 0;
      const titles = methods.map(({ title }) => title);
      const used = methods.find(({ name }) => name === past.method) ?? methods[0];
      const buttons = choice(titles, used.title, (title) => this.choose(methods[titles.indexOf(title)]));
      this.methods.replaceChildren(buttons.row);
      this.choose(used);
      this.run(read(past, "running", "boolean"));
      this.list();
    } catch (error) {
      this.problem(error);
    }
  }

  /** Another skin is shown: mark the fit that it is of, if any. */
  private async follow(): Promise<void> {
    try {
      this.current = readOrNull(await this.figures("fits"), "current", "number") ?? 0;
      this.list();
    } catch (error) {
      this.problem(error);
    }
  }

  private async figures(what: string): Promise<Data> {
    return (await this.link.request("figures", { what })).ok;
  }

  private choose(method: Method): void {
    const { settings } = method;
    const first = settings.filter(({ name }) => FIRST.has(name));
    this.method = method;
    this.inputs = new SettingInputs([...first, ...settings.filter((setting) => !first.includes(setting))]);
    const { rows } = this.inputs;
    const more = element("details");
    more.append(element("summary", "", "more settings"), ...rows.slice(first.length));
    this.form.replaceChildren(element("p", "hint", method.summary), ...rows.slice(0, first.length), more);
  }

  private fit(): void {
    if (!this.method) return;
    this.said.replaceChildren();
    this.run(true);
    const data = { method: this.method.name, settings: this.inputs.changed };
    this.link.request("fit", data).catch((error: unknown) => {
      this.run(false);
      this.problem(error);
    });
  }

  private ask(what: string, data?: Data): void {
    this.link.request(what, data).catch((error: unknown) => this.problem(error));
  }

  /** Show whether a fit is running. */
  private run(running: boolean): void {
    this.start.disabled = running || !this.link.editor;
    this.stop.disabled = !running || !this.link.editor;
    this.bar.hidden = !running;
    this.bar.removeAttribute("value");
    this.step.textContent = running ? "starting" : this.link.editor ? "" : "Another page edits this project.";
  }

  private advance(data: Data): void {
    const count = readOrNull(data, "count", "number");
    const done = read(data, "done", "number");
    if (this.bar.hidden) this.run(true);
    this.step.textContent = `${read(data, "what", "string")}${count === null ? "" : `: ${done} of ${count}`}`;
    if (count === null) this.bar.removeAttribute("value");
    else Object.assign(this.bar, { max: Math.max(1, count), value: done });
  }

  private finish(data: Data): void {
    const fit = readFit(data);
    this.fits.push(fit);
    this.current = fit.number;
    this.end("");
    const left = fit.crossValidated === null ? "" : `, ${short(fit.crossValidated)} at poses left out in turn`;
    const errors = `Error ${short(fit.error)} of plain skinning's at the examples${left}.`;
    const bytes = `${fit.bytes.toLocaleString("en")} bytes, ${short(fit.bytesPerVertex)} per vertex.`;
    this.said.append(element("p", "", `${errors} ${bytes}`));
    for (const note of fit.notes.slice(0, MOST_NOTES)) this.said.append(element("p", "hint", note));
    const more = fit.notes.length - MOST_NOTES;
    if (more > 0) this.said.append(element("p", "hint", `and ${more} more notes`));
    this.list();
  }

  private end(words: string, kind = "problem"): void {
    this.run(false);
    this.said.replaceChildren();
    if (words) this.said.append(element("p", kind, words));
  }

  private problem(error: unknown): void {
    this.said.replaceChildren(element("p", "problem", lineOf(error)));
  }

  /** List the fits so far; with more than one, their errors against their bytes. */
  private list(): void {
    this.earlier.replaceChildren();
    if (!this.fits.length) return;
    const take = this.link.editor ? (number: number) => this.take(number) : null;
    this.earlier.append(fitTable(this.fits, this.current, take));
    if (this.fits.length > 1) this.earlier.append(fitScatter(this.fits));
  }

  /** Make an earlier fit the skin. */
  private take(number: number): void {
    const before = this.current;
    this.current = number;
    this.list();
    this.link.request("take_fit", { number }).catch((error: unknown) => {
      this.current = before;
      this.list();
      this.problem(error);
    });
  }
}
