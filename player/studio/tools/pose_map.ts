/** A map of the pose space: the sculpts' poses on a plane, on which one sees the pose and moves it. */

import type { PagePose } from "../../page/data.js";
import { element, menu } from "../../page/elements.js";
import type { Menu } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import { chooseSculpt } from "../choose_sculpt.js";
import { Latest } from "../latest.js";
import { MapPlot } from "../map_plot.js";
import type { MapUser, Point } from "../map_plot.js";
import { PosePlane } from "../pose_plane.js";
import type { Project, ProjectInfo } from "../project.js";

/** Joints and controls of a layer that its entry of the list names. */
const NAMED = 3;

export class PoseMap implements Tool, MapUser {
  private stage: Stage | null = null;
  private info: ProjectInfo | null = null;
  private plane: PosePlane | null = null;
  /** The joints and controls of each layer that sculpts span. */
  private layers: string[][] = [];
  /** The layer that is shown; null: all sculpts are. */
  private layer: string[] | null = null;
  /** Whether the layer was taken from the list; else it is that of the sculpt that is chosen. */
  private picked = false;
  private list: Menu | null = null;
  private chosen = "";
  private readonly reading = new Latest<void>(() => this.read());
  private readonly posing = new Latest<Point>((point) => this.pose(point));
  private readonly section = element("details", "pose-map");
  private readonly choice = element("div", "row");
  private readonly plot = new MapPlot(this);
  private readonly across = element("p", "figures");
  private readonly up = element("p", "figures");

  constructor(private readonly project: Project) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.section.open = true;
    this.section.hidden = true;
    const help = element("p", "hint", "The cross is the pose now. Click or drag to pose; a dot goes to its sculpt.");
    this.section.append(element("summary", "", "map of poses"), this.choice, this.up, this.plot.box, this.across, help);
    panel.append(this.section);
    panel.onDispose(this.project.onChange(() => this.changed()));
  }

  changed(): void {
    const { info, chosen } = this.project;
    if (info === this.info && chosen === this.chosen) return;
    const isNew = info !== this.info;
    [this.info, this.chosen] = [info, chosen];
    if (isNew) this.listLayers();
    const moved = this.follow();
    this.plot.mark(chosen);
    this.section.hidden = !this.layers.length;
    if (this.layers.length && (isNew || moved)) this.reading.want();
  }

  /** Where the pose is needs no server: a clip moves it with every frame. */
  afterDraw(): void {
    if (!this.plane || !this.stage || !this.section.open) return;
    const [x, y] = this.plane.point(this.stage.skins[0]);
    this.plot.follow({ x, y });
  }

  choose(name: string): void {
    if (this.stage) chooseSculpt(this.project, this.stage, name);
  }

  begin(point: Point): void {
    this.stage?.posing.begin();
    this.move(point);
  }

  move(point: Point): void {
    this.posing.want(point);
  }

  async end(): Promise<void> {
    await this.posing.done();
    this.stage?.posing.end();
  }

  async cancel(): Promise<void> {
    await this.posing.done();
    this.stage?.posing.cancel();
  }

  /** Which map is wanted, for requests. */
  private get wanted(): { layer?: string[] } {
    return this.layer ? { layer: this.layer } : {};
  }

  /** A list of the layers, where there are several. */
  private listLayers(): void {
    const moves = (this.info?.sculpts ?? []).map((row) => row.moves).filter((names) => names.length);
    const layers = [...new Map(moves.map((names) => [keyOf(names), names])).values()];
    if (keyOf(layers.map(keyOf)) === keyOf(this.layers.map(keyOf))) return;
    this.layers = layers;
    this.list = menu("all sculpts", layers.map(layerWords), (number) => {
      this.picked = true;
      this.layer = this.layers[number] ?? null;
      this.reading.want();
    });
    this.list.list.setAttribute("aria-label", "layer of the map");
    this.choice.replaceChildren(this.list.list);
    this.choice.hidden = layers.length < 2;
    this.show(this.layer);
  }

  /** Show the layer of the chosen sculpt, unless one was taken from the list; returns whether that is another. */
  private follow(): boolean {
    const moves = this.info?.sculpts.find(({ name }) => name === this.chosen)?.moves ?? [];
    if (this.picked || !moves.length || this.layers.length < 2) return false;
    const before = keyOf(this.layer ?? []);
    this.show(moves);
    return keyOf(this.layer ?? []) !== before;
  }

  /** Show a layer; where there is none like it, all sculpts. */
  private show(layer: string[] | null): void {
    const number = this.layers.findIndex((names) => keyOf(names) === keyOf(layer ?? []));
    this.layer = this.layers[number] ?? null;
    if (this.list) this.list.chosen = number;
  }

  private async read(): Promise<void> {
    const answer = await this.project.do("map", this.wanted);
    if (!answer) return;
    this.plane = new PosePlane(answer);
    this.plot.show(this.plane);
    const [across, up] = this.plane.axes;
    this.across.textContent = across ? `→ ${across}` : "";
    this.up.textContent = up ? `↑ ${up}` : "";
    this.stage?.wake();
  }

  /** Take the pose at a point of the map. */
  private async pose({ x, y }: Point): Promise<void> {
    const { posing } = this.stage ?? {};
    if (!posing) return;
    const answer = await this.project.do("map_pose", { ...this.wanted, point: [x, y], pose: posing.pose("now") });
    if (answer) posing.put({ ...(answer.ok.pose as Omit<PagePose, "name">), name: "map" }, { kind: "hand" });
  }
}

function keyOf(names: readonly string[]): string {
  return JSON.stringify(names);
}

function layerWords(names: string[]): string {
  if (names.length <= NAMED) return names.join(" + ");
  return `${names.slice(0, NAMED - 1).join(" + ")} + ${names.length - NAMED + 1} more`;
}
