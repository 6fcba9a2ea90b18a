/** The fits so far as a table: what was set, the errors, and the bytes. */

import { button, element } from "../page/elements.js";
import type { Fit } from "./fits.js";
import { short } from "./line_chart.js";
import { label } from "./setting_inputs.js";

const HEADS = [
  ["fit", "the method, and the settings that differ from their defaults"],
  ["error", "at the examples, relative to plain skinning"],
  ["left out", "the same at poses left out in turn, before components are left out and numbers rounded"],
  ["bytes", "per vertex, excluding the rig"],
];

/** The table; `take` is called with the number of a fit that is chosen, null where none may be. */
export function fitTable(fits: Fit[], current: number, take: ((number: number) => void) | null): HTMLTableElement {
  const table = element("table", "fits");
  const head = element("tr");
  for (const [name, words] of HEADS) {
    const cell = element("th", "", name);
    cell.title = words;
    head.append(cell);
  }
  table.createTHead().append(head);
  const body = table.createTBody();
  for (const fit of fits) {
    const row = element("tr");
    const first = element("td");
    const chosen = button(`${fit.number} ${fit.method}`, "show the skin of this fit", () => take?.(fit.number));
    chosen.disabled = take === null;
    chosen.setAttribute("aria-pressed", `${fit.number === current}`);
    first.append(chosen, element("span", "hint", settingsOf(fit)));
    const left = fit.crossValidated === null ? "–" : short(fit.crossValidated);
    const numbers = [short(fit.error), left, short(fit.bytesPerVertex)];
    row.append(first, ...numbers.map((text) => element("td", "figure", text)));
    body.append(row);
  }
  return table;
}

/** The settings of a fit that differ from their defaults. */
function settingsOf({ settings }: Fit): string {
  const words = Object.entries(settings).map(([name, value]) => `${label(name)} ${value === null ? "none" : value}`);
  return words.join(", ") || "default settings";
}
