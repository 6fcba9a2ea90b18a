/** Inputs for the settings of a method, made from what the server says of them. */

import { element, tick } from "../page/elements.js";
import type { Data } from "./link.js";
import type { Setting } from "./fits.js";

interface Input {
  row: HTMLElement;
  /** The value that is set; null where the input is empty. */
  value(): unknown;
}

/** Inputs for several settings. */
export class SettingInputs {
  private readonly inputs = new Map<Setting, Input>();

  constructor(settings: Setting[]) {
    for (const setting of settings) this.inputs.set(setting, inputFor(setting));
  }

  get rows(): HTMLElement[] {
    return [...this.inputs.values()].map(({ row }) => row);
  }

  /** The settings that differ from their defaults. */
  get changed(): Data {
    const values = [...this.inputs].map(([setting, input]) => [setting, input.value()] as const);
    return Object.fromEntries(values.filter(([s, value]) => value !== s.default).map(([s, value]) => [s.name, value]));
  }
}

/** The name of a setting as words. */
export function label(name: string): string {
  return name.replaceAll("_", " ");
}

function inputFor(setting: Setting): Input {
  if (setting.kind === "bool") return tickFor(setting);
  return setting.choices.length ? menuFor(setting) : fieldFor(setting);
}

function tickFor(setting: Setting): Input {
  const { row, input } = tick(label(setting.name), () => {});
  row.title = setting.text;
  input.checked = setting.default === true;
  return { row, value: () => input.checked };
}

function menuFor(setting: Setting): Input {
  const list = element("select");
  const entries = setting.optional ? ["", ...setting.choices] : setting.choices;
  for (const name of entries) {
    const entry = element("option", "", name || withoutValue(setting));
    entry.value = name;
    list.append(entry);
  }
  list.value = typeof setting.default === "string" ? setting.default : "";
  return { row: labelled(setting, list), value: () => list.value || null };
}

function fieldFor(setting: Setting): Input {
  const field = element("input");
  const isNumber = setting.kind !== "str";
  field.type = isNumber ? "number" : "text";
  field.step = setting.kind === "int" ? "1" : "any";
  field.placeholder = setting.optional ? withoutValue(setting) : "";
  field.value = setting.default === null ? "" : `${setting.default}`;
  const value = () => (field.value === "" ? null : isNumber ? Number(field.value) : field.value);
  return { row: labelled(setting, field), value };
}

function labelled(setting: Setting, input: HTMLElement): HTMLElement {
  const row = element("label", "setting");
  row.title = setting.text;
  row.append(element("span", "", label(setting.name)), input);
  return row;
}

/** What a setting does without a value, as its description says after "None:". */
function withoutValue({ text }: Setting): string {
  return /None: ([^,;.(]+)/.exec(text)?.[1].trim() ?? "none";
}
