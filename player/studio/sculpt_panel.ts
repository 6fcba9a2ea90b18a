/** The panel of sculpting: brushes, their settings, and what becomes of the shape. */

import { button, choice, element, slider, tick } from "../page/elements.js";
import type { BrushSettings } from "./brush_settings.js";
import { BRUSHES } from "./brushes/brushes.js";

/** The least part of the vertices with a mirror partner for a shape that counts as symmetric. */
const SYMMETRIC = 0.5;

/** What the buttons do. */
export interface SculptActions {
  start(): void;
  define(): void;
  cancel(): void;
  undo(): void;
  redo(): void;
  mirror(on: boolean): void;
  exportShape(): void;
  importShape(file: File): void;
}

export class SculptPanel {
  readonly section = element("section", "sculpt");
  readonly start: HTMLButtonElement;
  readonly name = element("input");
  readonly mirror: ReturnType<typeof tick>;
  readonly status = element("p", "status");
  private readonly define: HTMLButtonElement;
  private readonly active = element("div", "active");
  private readonly brushes: ReturnType<typeof choice<string>>;
  private readonly radius: ReturnType<typeof slider>;
  private readonly strength: ReturnType<typeof slider>;

  constructor(
    private readonly settings: BrushSettings,
    actions: SculptActions,
  ) {
    this.start = button("start sculpt", "sculpt the skin at this pose: key n", () => actions.start());
    this.define = button("define", "make the shape a sculpt of this pose", () => actions.define());
    const names = BRUSHES.map(({ name }) => name);
    this.brushes = choice(names, settings.brush.name, (name) => {
      settings.brush = BRUSHES.find((brush) => brush.name === name) ?? settings.brush;
    });
    this.radius = slider(
      "radius",
      5,
      300,
      1,
      settings.radius,
      (value) => Object.assign(settings, { radius: value }),
      " px",
    );
    this.strength = slider(
      "strength",
      0,
      100,
      1,
      100 * settings.strength,
      (value) => Object.assign(settings, { strength: value / 100 }),
      " %",
    );
    this.mirror = tick("mirror strokes", (on) => actions.mirror(on));
    const whole = tick("all within the radius", (on) => Object.assign(settings, { whole: on }));
    whole.row.title = "also parts of the surface that do not hang together with the one below the pointer";
    Object.assign(this.name, { type: "text", placeholder: "name of the sculpt" });
    this.name.setAttribute("aria-label", "name of the sculpt");
    const cancel = button("cancel", "drop all strokes", () => actions.cancel());
    this.active.append(
      this.brushes.row,
      this.radius.row,
      this.strength.row,
      this.mirror.row,
      whole.row,
      row(
        button("undo stroke", "key Ctrl+z", () => actions.undo()),
        button("redo stroke", "key Ctrl+Shift+z", () => actions.redo()),
      ),
      row(this.name, this.define, cancel),
      this.files(actions),
    );
    this.section.append(element("h2", "", "Sculpt"), this.start, this.active, this.status);
    this.show(false, "", false);
  }

  /** Show whether one sculpts, what `define` would do, and whether there is something to define. */
  show(active: boolean, defines: string, dirty: boolean): void {
    this.active.hidden = !active;
    this.start.hidden = active;
    this.define.textContent = defines;
    this.define.disabled = !dirty;
    this.refresh();
  }

  /** Show the settings as they are. */
  refresh(): void {
    this.brushes.press(this.settings.brush.name);
    this.radius.value = this.settings.radius;
    this.strength.value = Math.round(100 * this.settings.strength);
  }

  /** Say whether strokes can be mirrored: the part of the vertices that have a partner. */
  offerMirror(matched: number): void {
    const percent = Math.floor(100 * matched);
    const { input, row } = this.mirror;
    input.disabled = matched < SYMMETRIC;
    if (input.disabled) input.checked = false;
    const some = percent === 100 ? "" : ` (${percent} % of the vertices have a partner)`;
    row.lastElementChild?.replaceChildren(
      `mirror strokes${input.disabled ? ": the rest shape is not symmetric" : some}`,
    );
    row.title = "across x = 0 of the rest shape";
  }

  private files(actions: SculptActions): HTMLElement {
    const chosen = element("input");
    Object.assign(chosen, { type: "file", accept: ".obj", hidden: true });
    chosen.addEventListener("change", () => {
      const [file] = chosen.files ?? [];
      chosen.value = "";
      if (file) actions.importShape(file);
    });
    return row(
      button("export OBJ", "the shape now, to sculpt elsewhere", () => actions.exportShape()),
      button("import OBJ", "a shape sculpted elsewhere, at this pose", () => chosen.click()),
      chosen,
    );
  }
}

function row(...parts: HTMLElement[]): HTMLElement {
  const made = element("div", "row buttons");
  made.append(...parts);
  return made;
}
