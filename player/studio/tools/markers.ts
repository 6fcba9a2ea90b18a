/** The markers of a take while its clip is on the timeline: a cross where each was measured; none where it was not seen. */

import { Vector3 } from "three";

import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Project } from "../project.js";

const SVG = "http://www.w3.org/2000/svg";

/** The width of a cross, in pixels. */
const WIDTH = 9;

interface Take {
  /** Frames per second. */
  rate: number;
  /** How many markers there are. */
  count: number;
  /** (F, M, 3) in the world. */
  positions: ArrayLike<number>;
  /** (F, M), 0 where a marker was not seen. */
  seen: ArrayLike<number>;
}

export class Markers implements Tool {
  private stage: Stage | null = null;
  private take: Take | null = null;
  /** The clip whose markers were asked for. */
  private asked = "";
  private wanted: HTMLInputElement | null = null;
  private readonly layer = document.createElementNS(SVG, "svg");
  private readonly crosses = document.createElementNS(SVG, "path");

  constructor(private readonly project: Project) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.layer.id = "markers";
    this.layer.setAttribute("aria-hidden", "true");
    this.layer.append(this.crosses);
    stage.renderer.domElement.after(this.layer);
    this.wanted = panel.tick("markers", "m", () => stage.wake());
    this.wanted.checked = true;
  }

  changed(): void {
    const { clip } = this;
    if (clip === this.asked) return;
    this.asked = clip;
    this.take = null;
    if (this.project.info?.takes.includes(clip)) void this.fetch(clip);
  }

  afterDraw(): void {
    const { take, stage } = this;
    const isShown = !!stage && !!take && !!this.wanted?.checked;
    this.crosses.setAttribute("d", isShown ? drawn(take, stage) : "");
  }

  dispose(): void {
    this.layer.remove();
  }

  /** The clip that is shown; empty: none is. */
  private get clip(): string {
    const posing = this.stage?.posing;
    return posing?.source.kind === "clip" ? posing.clips[posing.source.index].name : "";
  }

  private async fetch(clip: string): Promise<void> {
    const answer = await this.project.do("markers", { clip });
    if (!answer || this.asked !== clip) return;
    const { positions, seen } = answer.arrays;
    this.take = { rate: answer.ok.rate as number, count: (answer.ok.names as string[]).length, positions, seen };
    this.stage?.wake();
  }
}

/** The path of the crosses at the time of the timeline. */
function drawn({ rate, count, positions, seen }: Take, { posing, picture }: Stage): string {
  const { camera, width, height } = picture;
  const frame = Math.min(seen.length / count - 1, Math.max(0, Math.round(posing.cursor * rate)));
  const at = new Vector3();
  const half = WIDTH / 2;
  let path = "";
  for (let row = frame * count; row < (frame + 1) * count; row++) {
    if (!seen[row]) continue;
    at.set(positions[3 * row], positions[3 * row + 1], positions[3 * row + 2]).project(camera);
    if (Math.abs(at.z) > 1) continue;
    const [x, y] = [((at.x + 1) * width) / 2, ((1 - at.y) * height) / 2];
    path += `M${(x - half).toFixed(1)} ${(y - half).toFixed(1)}l${WIDTH} ${WIDTH}m0 ${-WIDTH}l${-WIDTH} ${WIDTH}`;
  }
  return path;
}
