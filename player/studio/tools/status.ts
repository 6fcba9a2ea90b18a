/** What was done last, or why it could not be; notes of the solve; and undo and redo of everything that is saved. */

import { button, element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Project } from "../project.js";

export class Status implements Tool {
  private readonly undo = button("undo", "key u", () => this.project.do("undo"));
  private readonly redo = button("redo", "key U", () => this.project.do("redo"));
  private readonly said = element("p", "status");
  private readonly shown = element("p", "hint");
  private readonly notes = element("ul", "notes");

  constructor(private readonly project: Project) {}

  mount(_stage: Stage, panel: Panel): void {
    this.said.setAttribute("role", "status");
    if (this.project.info?.editable) {
      const row = element("div", "row buttons history");
      row.append(this.undo, this.redo);
      panel.append(row);
      panel.keys("u undo the last change of the sculpts", { u: () => this.undo.click() });
      panel.keys("U redo it", { U: () => this.redo.click() });
    }
    panel.append(this.said, this.shown, this.notes);
    panel.onDispose(this.project.onChange(() => this.changed()));
  }

  changed(): void {
    const { info, mayEdit, said } = this.project;
    this.undo.disabled = !mayEdit || !info?.undo;
    this.redo.disabled = !mayEdit || !info?.redo;
    this.undo.textContent = info?.undo ? `undo: ${info.undo}` : "undo";
    this.redo.textContent = info?.redo ? `redo: ${info.redo}` : "redo";
    for (const pressable of [this.undo, this.redo]) pressable.title = pressable.textContent ?? "";
    this.said.textContent = said;
    this.shown.textContent = info ? `skin shown: ${info.method}` : "";
    this.notes.replaceChildren(...(info?.notes ?? []).map((line) => element("li", "", line)));
    this.notes.hidden = !info?.notes.length;
  }
}
