/** The keys of the page: what they do, and the words that say so. */

/** Some keys that belong together; "Ctrl+Shift+z" is z with Shift and with Ctrl or the command key. */
export interface KeyGroup {
  /** What the page says of them, such as "r rest pose"; empty: nothing. */
  words: string;
  /** Whether they do something while a pointer drags, too. */
  duringDrags?: boolean;
  /** Whether no other group hears of these keys, such as those of a brush while one sculpts. */
  first?: boolean;
  presses: Record<string, () => void>;
}

export class Keys {
  private readonly groups = new Set<KeyGroup>();

  /** Parameter: whether a pointer drags something now. */
  constructor(private readonly dragging: () => boolean) {
    window.addEventListener("keydown", (event) => this.press(event));
  }

  /** What the page says of all keys that do something now. */
  get words(): string[] {
    const heard = [...this.groups].filter((group) => Object.keys(group.presses).some((key) => this.takes(group, key)));
    return heard.map((group) => group.words).filter((words) => words);
  }

  /** Add keys; returns what takes them away. */
  add(group: KeyGroup): () => void {
    this.groups.add(group);
    return () => this.groups.delete(group);
  }

  private press(event: KeyboardEvent): void {
    if (isOwn(event.target, event.key)) return;
    const key = nameOf(event);
    for (const group of this.groups) {
      if (!this.takes(group, key) || (this.dragging() && !group.duringDrags)) continue;
      event.preventDefault();
      group.presses[key]();
    }
  }

  /** Whether a group hears of a key. */
  private takes({ presses, first }: KeyGroup, key: string): boolean {
    if (!Object.hasOwn(presses, key)) return false;
    return !!first || ![...this.groups].some((group) => group.first && Object.hasOwn(group.presses, key));
  }
}

/** The name of a key with those that are held with it; empty for what belongs to the system, such as Alt with a letter. */
function nameOf(event: KeyboardEvent): string {
  const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
  // AltGr, which some systems report as Ctrl and Alt, makes characters such as [ on many keyboards.
  if (event.getModifierState("AltGraph")) return key;
  if (altKey) return "";
  if (ctrlKey || metaKey) return `Ctrl+${shiftKey ? "Shift+" : ""}${key.toLowerCase()}`;
  // By Shift and not by the letter's case, which Caps Lock changes.
  if (key.length > 1 || key.toLowerCase() === key.toUpperCase()) return key;
  return shiftKey ? key.toUpperCase() : key.toLowerCase();
}

/** Whether the element that has the focus needs a key itself. */
function isOwn(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLButtonElement) return key === " ";
  if (!(target instanceof HTMLInputElement)) return false;
  if (target.type === "range") return key.startsWith("Arrow");
  return target.type === "text" || target.type === "number" || key === " ";
}
