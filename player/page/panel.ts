/** The part of the side panel, of what is over the picture, and of the keys that belongs to one tool: it goes when that goes. */

import { button, element, tick } from "./elements.js";
import type { Keys } from "./keys.js";

export class Panel {
  private readonly cleanups: (() => void)[] = [];

  constructor(
    private readonly side: HTMLElement,
    private readonly view: HTMLElement,
    private readonly keyboard: Keys,
  ) {}

  /** Add elements below those of the tools before. */
  append(...elements: HTMLElement[]): void {
    this.side.append(...elements);
    for (const added of elements) this.onDispose(() => added.remove());
  }

  /** Add elements over the picture. */
  over(...elements: HTMLElement[]): void {
    this.view.append(...elements);
    for (const added of elements) this.onDispose(() => added.remove());
  }

  /** Add a button with a key; buttons that follow one another share a row. */
  button(text: string, key: string, pressed: () => void): void {
    this.share("buttons", button(text, `key ${key}`, pressed));
    this.keys(`${key} ${text}`, { [key]: pressed });
  }

  /** Add a box to tick, with a key; boxes that follow one another share a row. */
  tick(text: string, key: string, changed: (on: boolean) => void): HTMLInputElement {
    const { row, input } = tick(text, changed);
    row.title = `key ${key}`;
    this.share("ticks", row);
    this.keys(`${key} ${text}`, { [key]: () => input.click() });
    return input;
  }

  /** Add an element to the row of a kind that was added last. */
  private share(kind: string, added: HTMLElement): void {
    const last = this.side.lastElementChild;
    if (last?.classList.contains(kind)) last.append(added);
    else {
      const row = element("div", `row ${kind}`);
      row.append(added);
      this.side.append(row);
    }
    this.onDispose(() => {
      const row = added.parentElement;
      added.remove();
      if (!row?.childElementCount) row?.remove();
    });
  }

  /** Add keys, and the words that the page says of them; most do nothing while a pointer drags. */
  keys(words: string, presses: Record<string, () => void>, duringDrags = false): void {
    this.onDispose(this.keyboard.add({ words, presses, duringDrags }));
  }

  /** Call something when the tool goes. */
  onDispose(cleanup: () => void): void {
    this.cleanups.push(cleanup);
  }

  dispose(): void {
    for (const cleanup of this.cleanups.splice(0)) cleanup();
  }
}
