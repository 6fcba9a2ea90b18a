/** Small parts of the page. All text is set as text: nothing from a file becomes HTML. */

/** An element with a class and a text. */
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, name = "", text = ""): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text) node.textContent = text;
  return node;
}

/** A labelled slider that shows its value with a unit, or in the words that `unit` makes of it; one beyond its ends is shown as it is, the slider at its end. */
export interface Slider {
  row: HTMLElement;
  value: number;
  most: number;
}

export function slider(
  name: string,
  least: number,
  most: number,
  step: number,
  value: number,
  changed: (value: number) => void,
  unit: string | ((value: number) => string) = "",
): Slider {
  const row = element("label", "slider");
  const input = element("input");
  const shown = element("output");
  Object.assign(input, { type: "range", min: `${least}`, max: `${most}`, step: `${step}`, value: `${value}` });
  const show = (number: number) => {
    shown.textContent = typeof unit === "string" ? `${number}${unit}` : unit(number);
  };
  input.addEventListener("input", () => {
    show(Number(input.value));
    changed(Number(input.value));
  });
  show(value);
  row.append(element("span", "", name), input, shown);
  return {
    row,
    get value() {
      return Number(input.value);
    },
    set value(wanted: number) {
      input.value = `${wanted}`;
      show(wanted);
    },
    get most() {
      return Number(input.max);
    },
    set most(wanted: number) {
      input.max = `${wanted}`;
    },
  };
}

/** Buttons of which one is pressed. */
export function choice<T extends string>(names: readonly T[], chosen: T, changed: (name: T) => void) {
  const row = element("div", "choice");
  const buttons = new Map<T, HTMLButtonElement>();
  const press = (name: T) => {
    for (const [key, button] of buttons) button.setAttribute("aria-pressed", `${key === name}`);
  };
  for (const name of names) {
    const pressable = element("button", "", name);
    pressable.type = "button";
    pressable.addEventListener("click", () => {
      press(name);
      changed(name);
    });
    buttons.set(name, pressable);
    row.append(pressable);
  }
  press(chosen);
  return { row, press };
}

/** A button. One that was clicked gives up the focus: it would keep the space bar, which plays, for itself. */
export function button(text: string, title: string, pressed: () => void): HTMLButtonElement {
  const pressable = element("button", "", text);
  pressable.type = "button";
  pressable.title = title;
  pressable.addEventListener("click", ({ detail }) => {
    // By key there are no clicks to count.
    if (detail > 0) pressable.blur();
    pressed();
  });
  return pressable;
}

/** A box to tick. */
export function tick(text: string, changed: (on: boolean) => void): { row: HTMLElement; input: HTMLInputElement } {
  const row = element("label", "tick");
  const input = element("input");
  input.type = "checkbox";
  input.addEventListener("change", () => changed(input.checked));
  row.append(input, element("span", "", text));
  return { row, input };
}

/** A list to choose from. */
export interface Menu {
  list: HTMLSelectElement;
  /** The entry that is chosen; -1 is the first, which stands for none of the names. */
  chosen: number;
  /** Bring the names into an order: their numbers, all of them. */
  order(numbers: readonly number[]): void;
  /** Show words that are no entry. */
  say(words: string): void;
}

export function menu(none: string, names: string[], changed: (index: number) => void): Menu {
  const list = element("select");
  const said = element("option");
  Object.assign(said, { hidden: true, disabled: true, value: "said" });
  const entries = [none, ...names].map((name, k) => {
    const entry = element("option", "", name);
    entry.value = `${k - 1}`;
    return entry;
  });
  list.append(...entries, said);
  list.value = "-1";
  list.addEventListener("change", () => changed(Number(list.value)));
  return {
    list,
    get chosen() {
      return Number(list.value);
    },
    set chosen(index: number) {
      list.value = `${index}`;
    },
    order(numbers: readonly number[]) {
      const { value } = list;
      list.append(...numbers.map((k) => entries[k + 1]), said);
      list.value = value;
    },
    say(words: string) {
      said.textContent = words;
      list.value = "said";
    },
  };
}

/** An element of a drawing in SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, name = ""): SVGElementTagNameMap[K] {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  if (name) node.setAttribute("class", name);
  return node;
}

/** Set attributes of an element of a drawing, numbers in tenths of a pixel, where they change. */
export function place(part: SVGElement, values: Record<string, number>): void {
  for (const [name, value] of Object.entries(values)) {
    const text = value.toFixed(1);
    if (part.getAttribute(name) !== text) part.setAttribute(name, text);
  }
}

/** A field for a number; an empty one is null. */
export interface NumberField {
  row: HTMLElement;
  input: HTMLInputElement;
  value: number | null;
}

/** A labelled field for a number above 0 with a unit; `changed` hears of a number that was entered. */
export function numberField(
  name: string,
  none: string,
  unit: string,
  changed: (value: number | null) => void,
): NumberField {
  const row = element("label", "number");
  const input = element("input");
  Object.assign(input, { type: "number", min: "0", step: "any", placeholder: none });
  row.append(element("span", "", name), input, element("span", "unit", unit));
  const field = {
    row,
    input,
    get value() {
      return input.value === "" ? null : Number(input.value);
    },
    set value(wanted: number | null) {
      input.value = wanted === null ? "" : `${Number(wanted.toPrecision(3))}`;
    },
  };
  input.addEventListener("change", () => changed(field.value));
  return field;
}
