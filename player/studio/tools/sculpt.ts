/** Sculpting the skin at the pose of the stage, and making a sculpt of it. */

import type { KeyGroup } from "../../page/keys.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import { BrushSettings } from "../brush_settings.js";
import { BRUSHES } from "../brushes/brushes.js";
import { Drafts } from "../drafts.js";
import { restPose } from "../frozen_pose.js";
import type { Link } from "../link.js";
import { SculptPanel } from "../sculpt_panel.js";
import { SculptSession } from "../sculpt_session.js";
import { Sculpting } from "../sculpting.js";
import { readShape, saveShape } from "../shape_files.js";

/** What the keys [ and ] make of the radius. */
const STEP = 1.15;

/** What the panel says while nothing else is to be said. */
const HELP =
  "Drag on the surface to sculpt; Shift smooths, Ctrl does the opposite. Beside it, or with the right button, the view turns.";

export class Sculpt implements Tool {
  private readonly settings = new BrushSettings(() => this.refresh());
  private readonly panel = new SculptPanel(this.settings, {
    start: () => this.attempt(() => this.start()),
    define: () => this.attempt(() => this.define()),
    cancel: () => this.cancel(),
    undo: () => this.session?.undo(),
    redo: () => this.session?.redo(),
    mirror: (on) => this.mirror(on),
    exportShape: () => this.attempt(() => this.exportShape()),
    importShape: (file) => this.attempt(() => this.importShape(file)),
  });
  private readonly drafts: Drafts;
  private stage: Stage | null = null;
  private session: SculptSession | null = null;
  /** Whether a request is on its way that the next one must wait for. */
  private busy = false;
  private removeKeys: (() => void)[] = [];
  /** The sculpts that the project has. */
  private names: string[] = [];

  /** Parameters: the server, and what hears of the name of a sculpt that was defined. */
  constructor(
    private readonly link: Link,
    private readonly defined: (name: string) => void = () => {},
  ) {
    this.drafts = new Drafts(link, (words) => this.say(words));
  }

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.append(this.panel.section);
    panel.keys("n start sculpt", { n: () => !this.session && this.attempt(() => this.start()) });
    panel.onDispose(this.link.on("project", (project) => this.hear(project)));
    this.panel.name.addEventListener("input", () => this.refresh());
  }

  changed(): void {
    this.refresh();
  }

  update(): void {
    this.session?.update();
  }

  beforeDraw(): void {
    this.session?.beforeDraw();
  }

  dispose(): void {
    this.leave();
  }

  /** Whether one sculpts. */
  get active(): boolean {
    return !!this.session;
  }

  /** Sculpt at the pose of the stage; with points (N, 3), go on with that shape under its name. */
  async start(name = "", points: Float32Array | null = null): Promise<void> {
    const { stage, link, settings } = this;
    if (!stage || this.session) return;
    if (!link.editor) throw new Error("another page edits this project: this one looks on");
    const { pose, surface, rest, sculpt } = await this.read(stage);
    const sculpting = new Sculpting(surface, rest);
    stage.posing.take(pose, { kind: "hand" });
    this.session = new SculptSession(stage, sculpting, settings, {
      changed: () => this.reshaped(),
      busy: () => this.busy,
      held: () => this.say("The pose stays as it is while you sculpt: define or cancel first."),
    });
    this.panel.offerMirror(sculpting.mirror.matched);
    this.mirror(this.panel.mirror.input.checked);
    this.panel.name.value = name || sculpt;
    if (points) this.session.replace(points);
    this.removeKeys = this.keys(this.session).map((group) => stage.keys.add(group));
    this.say(HELP);
    stage.notify();
  }

  /** The surface at the pose of the stage, and at rest. */
  private async read(stage: Stage) {
    const pose = stage.posing.pose("sculpted");
    const [posed, rest, project] = await Promise.all([
      this.link.request("surface", { pose }),
      this.link.request("surface", { pose: restPose(stage) }),
      this.link.request("project"),
    ]);
    this.hear(project.ok);
    const { points, triangles, weld } = posed.arrays;
    const surface = {
      points: Float32Array.from(points),
      triangles: Int32Array.from(triangles),
      weld: Int32Array.from(weld),
    };
    // Plain skinning at rest is the rest shape.
    const sculpt = typeof posed.ok.sculpt === "string" ? posed.ok.sculpt : "";
    return { pose, surface, rest: Float32Array.from(rest.arrays.plain), sculpt };
  }

  private async define(): Promise<void> {
    const { session, link } = this;
    if (!session) return;
    const { name } = this;
    if (!name) {
      this.panel.name.focus();
      throw new Error("give the sculpt a name first, such as what bends: 'elbow 90'");
    }
    const replace = this.names.includes(name);
    this.drafts.forget();
    const { ok } = await link.request(
      "define",
      { name, pose: session.pose, replace },
      { points: session.sculpting.points() },
    );
    this.leave();
    this.defined(name);
    this.say(typeof ok.did === "string" ? ok.did : "");
  }

  /** Drop all strokes. */
  private cancel(): void {
    const { session } = this;
    if (!session) return;
    if (session.sculpting.dirty) this.drafts.keep(session.pose, this.name, null);
    this.leave();
    this.say("");
  }

  private async exportShape(): Promise<void> {
    const { session, link, name } = this;
    if (session) await saveShape(link, session.pose, session.sculpting.points(), name || "sculpt");
  }

  private async importShape(file: File): Promise<void> {
    const { session, link } = this;
    if (session) session.replace(await readShape(link, session.pose, file));
  }

  private mirror(on: boolean): void {
    if (this.session) this.session.sculpting.mirrored = on;
    this.refresh();
  }

  private leave(): void {
    for (const remove of this.removeKeys.splice(0)) remove();
    this.session?.dispose();
    this.session = null;
    this.stage?.notify();
  }

  private reshaped(): void {
    const { session } = this;
    if (session) this.drafts.keep(session.pose, this.name, session.sculpting.dirty ? session.sculpting.points() : null);
    this.refresh();
  }

  private hear({ sculpts }: Record<string, unknown>): void {
    const listed = Array.isArray(sculpts) ? (sculpts as { name: string }[]) : [];
    this.names = listed.map(({ name }) => name);
    this.refresh();
  }

  private refresh(): void {
    const { session, panel, link } = this;
    panel.start.disabled = !link.editor;
    panel.show(!!session, this.names.includes(this.name) ? "replace" : "define", !!session?.sculpting.dirty);
    session?.refresh();
  }

  private get name(): string {
    return this.panel.name.value.trim();
  }

  /** Do something that may fail: say why in one line. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await work();
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
    }
    this.busy = false;
  }

  private say(words: string): void {
    this.panel.status.textContent = words;
  }

  /** The keys while one sculpts, in groups that belong together. */
  private keys(session: SculptSession): KeyGroup[] {
    const { settings } = this;
    const smaller = () => Object.assign(settings, { radius: settings.radius / STEP });
    const larger = () => Object.assign(settings, { radius: settings.radius * STEP });
    const redo = () => session.redo();
    const groups: [string, KeyGroup["presses"]][] = [
      ...BRUSHES.map((brush): [string, KeyGroup["presses"]] => [
        `${brush.key} ${brush.name}`,
        { [brush.key]: () => Object.assign(settings, { brush }) },
      ]),
      ["[ ] or f radius", { "[": smaller, "]": larger, f: () => session.beginSize("radius") }],
      ["F strength", { F: () => session.beginSize("strength") }],
      ["m mirror", { m: () => this.panel.mirror.input.click() }],
      ["Ctrl+z undo", { "Ctrl+z": () => session.undo() }],
      ["Ctrl+Shift+z redo", { "Ctrl+Shift+z": redo, "Ctrl+y": redo }],
      ["Esc cancel a stroke", { Escape: () => session.escape() }],
    ];
    return groups.map(([words, presses]) => ({ words, presses, first: true }));
  }
}
