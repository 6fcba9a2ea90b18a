/** The sculpts of the project: go to one, rename, mute, mirror, soften or remove it. */

import { button, element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Project, SculptRow } from "../project.js";

export class SculptList implements Tool {
  private stage: Stage | null = null;
  private chosen = "";
  private readonly list = element("ul", "sculpts");
  private readonly title = element("h2", "", "sculpts");

  constructor(private readonly project: Project) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.append(this.title, this.list);
    panel.onDispose(this.project.onChange(() => this.changed()));
  }

  changed(): void {
    const rows = this.project.info?.sculpts ?? [];
    this.title.hidden = this.list.hidden = !rows.length;
    if (this.stage?.posing.source.kind !== "listed") this.chosen = "";
    this.list.replaceChildren(...rows.map((row, k) => this.entry(row, k)));
  }

  private entry(row: SculptRow, index: number): HTMLElement {
    const entry = element("li", row.muted ? "muted" : "");
    const go = button(row.name, "go to its pose", () => this.go(row.name, index));
    go.classList.add("name");
    const figures = row.moves.length ? `${(100 * row.largest).toPrecision(2)} %` : "at rest";
    entry.append(go, element("span", "figures", figures));
    entry.setAttribute("aria-current", `${row.name === this.chosen}`);
    if (row.name === this.chosen && this.project.mayEdit) entry.append(this.actions(row));
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
      this.radius(row),
    );
    return actions;
  }

  /** A field for the radius of a sculpt; empty: that of its layer. */
  private radius({ name, radius }: SculptRow): HTMLElement {
    const row = element("label", "row");
    const field = element("input");
    Object.assign(field, { type: "number", min: "0", step: "0.05", placeholder: "auto", value: radius ?? "" });
    field.addEventListener("change", () => {
      const value = field.value === "" ? null : Number(field.value);
      this.project.do("radius", { name, radius: value });
    });
    row.append(element("span", "", "radius"), field);
    return row;
  }

  private async go(name: string, index: number): Promise<void> {
    const pose = await this.project.poseOf(name);
    if (!pose) return;
    this.chosen = name;
    this.stage?.posing.take(pose, { kind: "listed", index });
  }

  private async rename(name: string, to: string): Promise<void> {
    if (await this.project.do("rename", { name, to })) this.chosen = to.trim();
    this.changed();
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
