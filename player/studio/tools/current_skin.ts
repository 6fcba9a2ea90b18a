/** Shows the skin that the project has now: whenever it was solved anew, its file is fetched and takes the place of the one before. */

import type { Panel } from "../../page/panel.js";
import type { Stage } from "../../page/stage.js";
import type { Tool } from "../../page/tool.js";
import type { Project } from "../project.js";

export class CurrentSkin implements Tool {
  private stage: Stage | null = null;
  private fetching = false;

  constructor(
    private readonly project: Project,
    private shown: number,
  ) {}

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    panel.onDispose(this.project.onChange(() => this.follow()));
    // Revisions are those of one server; another one counts anew.
    panel.onDispose(
      this.project.link.on("disconnected", () => {
        this.shown = 0;
      }),
    );
    document.body.dataset.skin = `${this.shown}`;
    this.follow();
  }

  /** One at a time: what was solved meanwhile is fetched afterwards. */
  private async follow(): Promise<void> {
    const { info, connected } = this.project;
    if (this.fetching || !connected || !info || info.revision <= this.shown) return;
    this.fetching = true;
    const answer = await this.project.do("skin");
    if (answer) {
      this.shown = answer.ok.revision as number;
      const isOfRig = await this.stage?.exchange(bufferOf(answer.arrays.glb as Uint8Array));
      // A fit of control points has none of the joints that the tools were made for, and needs tools of its own.
      if (isOfRig === false) location.reload();
      document.body.dataset.skin = `${this.shown}`;
    }
    this.fetching = false;
    if (answer) this.follow();
  }
}

/** The bytes of an array alone, without those of the message around it. */
export function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer as ArrayBuffer;
}
