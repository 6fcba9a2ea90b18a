/** Buttons for what is shown: each source alone, two of them side by side, or one with the edges of the other over it. */

import type { Source } from "../comparison.js";
import { button, element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** A button, and whether what it shows is shown. */
interface Entry {
  name: string;
  look(): void;
  isShown(): boolean;
}

/** The key of the last entry: each has the key of its number. */
const LAST_KEY = 9;

export class Views implements Tool {
  private stage: Stage | null = null;
  private entries: Entry[] = [];
  private listed = "";
  private readonly buttons = element("div", "choice views");
  private readonly sides = element("div", "row sides");
  private readonly left = element("select");
  private readonly right = element("select");

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const { comparison } = stage;
    for (const side of ["left", "right"] as const) {
      const list = this[side];
      list.setAttribute("aria-label", `${side} of the comparison`);
      list.addEventListener("change", () => {
        comparison[side] = comparison.sources.find(({ name }) => name === list.value) ?? comparison[side];
      });
    }
    panel.append(this.buttons, this.sides);
    const presses = Array.from({ length: LAST_KEY }, (_, k) => [`${k + 1}`, () => this.entries[k]?.look()] as const);
    panel.keys("1 to 4 view", Object.fromEntries(presses));
  }

  changed(): void {
    if (!this.stage) return;
    const { comparison } = this.stage;
    const listed = comparison.sources.map(({ name }) => name).join("\n");
    if (listed !== this.listed) this.list(comparison.sources);
    this.listed = listed;
    this.entries.forEach((entry, k) => {
      this.buttons.children[k].setAttribute("aria-pressed", `${entry.isShown()}`);
    });
    this.left.value = comparison.left.name;
    this.right.value = comparison.right.name;
    this.sides.hidden = comparison.mode === "single" || !this.sides.childElementCount;
  }

  /** Make buttons and lists of all sources; the first two and the ways to compare keep their keys. */
  private list(sources: readonly Source[]): void {
    const [alone, others] = [sources.slice(0, 2), sources.slice(2)];
    this.entries = [
      ...alone.map((source) => this.single(source)),
      this.pair("split"),
      this.pair("overlay"),
      ...others.map((source) => this.single(source)),
    ];
    this.buttons.replaceChildren(...this.entries.map(({ name, look }, k) => button(name, `key ${k + 1}`, look)));
    // Of two sources there is but one pair.
    this.sides.replaceChildren(...(others.length ? [this.left, this.right] : []));
    for (const list of [this.left, this.right]) {
      list.replaceChildren(
        ...sources.map(({ name, label }) => {
          const entry = element("option", "", label);
          entry.value = name;
          return entry;
        }),
      );
    }
  }

  private single(source: Source): Entry {
    const comparison = this.stage?.comparison;
    return {
      name: source.name,
      look: () => comparison?.showAlone(source),
      isShown: () => comparison?.mode === "single" && comparison.alone === source,
    };
  }

  private pair(mode: "split" | "overlay"): Entry {
    const comparison = this.stage?.comparison;
    const look = () => {
      if (comparison) comparison.mode = mode;
    };
    return { name: mode, look, isShown: () => comparison?.mode === mode };
  }
}
