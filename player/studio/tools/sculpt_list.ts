/** The sculpts of the project: go to one, rename, mute, mirror or remove it. */

import { button, element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import { chooseSculpt } from "../choose_sculpt.js";
import type { Project, SculptRow } from "../project.js";

export class SculptList implements Tool {
  private stage: Stage | null = null;
  /** What the list was made of. */
  private shown: unknown[] = [];
  private readonly list = element("ul", "sculpts");
  private readonly title = element("h2", "", "sculpts");

  constructor(private readonly project: Project) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.append(this.title, this.list);
    panel.onDispose(this.project.onChange(() => this.changed()));
  }

  changed(): void {
    const { info, chosen, mayEdit } = this.project;
    // Posing goes on with every frame, and a name that is being typed is kept.
    const shown = [info, chosen, mayEdit];
    if (shown.every((part, k) => part === this.shown[k])) return;
    this.shown = shown;
    const rows = info?.sculpts ?? [];
    this.title.hidden = this.list.hidden = !rows.length;
    this.list.replaceChildren(...rows.map((row) => this.entry(row)));
    this.list.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  }

  private entry(row: SculptRow): HTMLElement {
    const entry = element("li", row.muted ? "muted" : "");
    const go = button(row.name, "go to its pose", () => this.go(row.name));
    go.classList.add("name");
    const figures = row.moves.length ? `${(100 * row.largest).toPrecision(2)} %` : "at rest";
    entry.append(go, element("span", "figures", figures));
    entry.setAttribute("aria-current", `${row.name === this.project.chosen}`);
    if (row.name === this.project.chosen && this.project.mayEdit) entry.append(this.actions(row));
    return entry;
  }

  private actions(row: SculptRow): HTMLElement {
    const { name, muted } = row;
    const actions = element("div", "actions");
    const to = element("input");
    Object.assign(to, { type: "text", value: name, maxLength: 60 });
    to.setAttribute("aria-label", "name of the sculpt");
    to.addEventListener("change", () => this.rename(name, to.value));
    actions.append(
      to,
      button(muted ? "unmute" : "mute", "keep it, but leave it out of the solve", () =>
        this.project.do("mute", { name, muted: !muted }),
      ),
      button("mirror", "make its mirror image on the other side", () => this.mirror(name)),
      button("remove", "remove it; undo brings it back", () => this.project.do("remove", { name })),
    );
    return actions;
  }

  private go(name: string): void {
    if (this.stage) chooseSculpt(this.project, this.stage, name);
  }

  private async rename(name: string, to: string): Promise<void> {
    if (await this.project.do("rename", { name, to })) this.project.chosen = to.trim();
  }

  private async mirror(name: string): Promise<void> {
    const answer = await this.project.do("mirror", { name });
    const { made = [], kept = {} } = (answer?.ok ?? {}) as {
      made?: { name: string; match: string }[];
      kept?: Record<string, string>;
    };
    const lines = [
      ...made.map((image) => `${name} → ${image.name}: ${image.match}`),
      ...Object.entries(kept).map(([kept, why]) => `${kept}: ${why}`),
    ];
    if (lines.length) this.project.say(lines.join("; "));
  }
}
