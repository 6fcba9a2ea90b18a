/** The part of the side panel, and the keys, that belong to one tool: they go when it goes. */

import { button, element } from "./elements.js";
import type { Keys } from "./keys.js";

export class Panel {
  private readonly cleanups: (() => void)[] = [];

  constructor(
    private readonly side: HTMLElement,
    private readonly keyboard: Keys,
  ) {}

  /** Add elements below those of the tools before. */
  append(...elements: HTMLElement[]): void {
    this.side.append(...elements);
    for (const added of elements) this.onDispose(() => added.remove());
  }

  /** Add a button with a key; buttons that follow one another share a row. */
  button(text: string, key: string, pressed: () => void): void {
    const added = button(text, `key ${key}`, pressed);
    const last = this.side.lastElementChild;
    if (last?.classList.contains("buttons")) last.append(added);
    else {
      const row = element("div", "row buttons");
      row.append(added);
      this.side.append(row);
    }
    this.onDispose(() => {
      const row = added.parentElement;
      added.remove();
      if (!row?.childElementCount) row?.remove();
    });
    this.keys(`${key} ${text}`, { [key]: pressed });
  }

  /** Add keys, and the words that the page says of them. */
  keys(words: string, presses: Record<string, () => void>): void {
    this.onDispose(this.keyboard.add({ words, presses }));
  }

  /** Call something when the tool goes. */
  onDispose(cleanup: () => void): void {
    this.cleanups.push(cleanup);
  }

  dispose(): void {
    for (const cleanup of this.cleanups.splice(0)) cleanup();
  }
}
