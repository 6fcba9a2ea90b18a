/** The skin as a file for other programs, as a page, or as a skin; with it its clips and the blend of the key poses. */

import { download } from "../../page/download.js";
import { button, element } from "../../page/elements.js";
import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import { USUAL_RATE } from "../../page/timeline.js";
import type { Tool } from "../../page/tool.js";
import type { Arrays, Data } from "../link.js";
import type { Project } from "../project.js";

/** What can be exported: the name of the format, its type, and what a button says of it. */
const FORMATS = [
  ["glb", "model/gltf-binary", "for Blender, game engines and web players, with the key poses and clips as animations"],
  ["html", "text/html", "a page that anyone can open, with the key poses and clips to play"],
  ["skin", "application/octet-stream", "for the commands of posespace"],
] as const;

export class Exports implements Tool {
  private readonly said = element("p", "status");
  private readonly row = element("div", "row buttons head");

  constructor(private readonly project: Project) {}

  mount(stage: Stage, panel: Panel): void {
    this.said.setAttribute("role", "status");
    const buttons = FORMATS.map(([format, type, words]) => button(format, words, () => this.save(stage, format, type)));
    this.row.append(element("h2", "", "export"), ...buttons);
    panel.append(this.row, this.said);
  }

  private async save(stage: Stage, format: string, type: string): Promise<void> {
    this.said.textContent = "exporting…";
    try {
      const { frames, ...data } = blendOf(stage);
      const { beta } = stage.skins[0];
      const asked: Data = { ...data, format, ...(beta === null ? {} : { beta }) };
      const { ok, arrays } = await this.project.link.request("export_skin", asked, frames);
      const name = String(ok.filename);
      download(new Uint8Array(arrays.file), name, type);
      this.said.textContent = [`saved as ${name}`, ...(ok.left_out as string[])].join("; ");
    } catch (error) {
      this.said.textContent = error instanceof Error ? error.message : String(error);
    }
  }
}

/** The frames of the key poses, as the request takes them; no arrays where there are no key poses. */
function blendOf({ posing, skins }: Stage): Data & { frames?: Arrays } {
  const { frames } = posing.keys;
  if (!frames.length) return {};
  const controls = Object.keys(skins[0].controls);
  return {
    controls,
    rate: USUAL_RATE,
    frames: {
      frames: Float32Array.from(frames.flatMap(({ joints }) => joints)),
      values: Float32Array.from(frames.flatMap((pose) => controls.map((name) => pose.controls[name] ?? 0))),
    },
  };
}
