/** `?` shows all keys over the picture. */

import { element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";

export class KeyHelp implements Tool {
  private readonly dialog = element("dialog", "key-help");

  mount(stage: Stage, panel: Panel): void {
    document.body.append(this.dialog);
    panel.onDispose(() => this.dialog.remove());
    panel.keys("? keys", { "?": () => this.show(stage.keys.words) });
    this.dialog.addEventListener("click", () => this.dialog.close());
  }

  private show(words: string[]): void {
    if (this.dialog.open) {
      this.dialog.close();
      return;
    }
    const rows = words.map((line) => {
      const space = line.indexOf(" ");
      const row = element("li");
      row.append(element("kbd", "", line.slice(0, space)), element("span", "", line.slice(space + 1)));
      return row;
    });
    const list = element("ul");
    list.append(...rows);
    this.dialog.replaceChildren(element("h2", "", "keys"), list);
    this.dialog.showModal();
  }
}
