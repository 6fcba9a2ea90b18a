/** The name of the skin. */

import { element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Title implements Tool {
  constructor(private readonly title: string) {}

  mount(_stage: Stage, panel: Panel): void {
    document.title = this.title;
    panel.append(element("h1", "", this.title));
  }
}
