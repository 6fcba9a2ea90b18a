/** A part of the panel that is folded until it is wanted: what it shows is asked for once it is opened. */

import { element } from "../page/elements.js";

export interface FoldingBox {
  box: HTMLDetailsElement;
  /** Load what it shows, if it is open; else when it is opened. */
  refresh(): void;
}

export function foldingBox(title: string, name: string, load: () => void): FoldingBox {
  const box = element("details", `panel-box ${name}`);
  box.append(element("summary", "", title));
  let isStale = true;
  const refresh = () => {
    isStale = !box.open;
    if (box.open) load();
  };
  box.addEventListener("toggle", () => isStale && refresh());
  return { box, refresh };
}
