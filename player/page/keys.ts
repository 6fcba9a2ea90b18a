/** The keys of the page: what they do, and the words that say so. */

/** Some keys that belong together. */
export interface KeyGroup {
  /** What the page says of them, such as "r rest pose". */
  words: string;
  presses: Record<string, () => void>;
}

export class Keys {
  private readonly groups = new Set<KeyGroup>();

  constructor() {
    window.addEventListener("keydown", (event) => this.press(event));
  }

  /** What the page says of all keys. */
  get words(): string[] {
    return [...this.groups].map((group) => group.words);
  }

  /** Add keys; returns what takes them away. */
  add(group: KeyGroup): () => void {
    this.groups.add(group);
    return () => this.groups.delete(group);
  }

  private press(event: KeyboardEvent): void {
    const { target, key } = event;
    const typing = target instanceof HTMLSelectElement || (target instanceof HTMLButtonElement && key === " ");
    if (typing || event.ctrlKey || event.metaKey) return;
    for (const { presses } of this.groups) {
      if (!Object.hasOwn(presses, key)) continue;
      event.preventDefault();
      presses[key]();
    }
  }
}
