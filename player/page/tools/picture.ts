/** A button that saves what the stage shows as a PNG file. */

import { element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Picture implements Tool {
  constructor(private readonly title: string) {}

  mount(stage: Stage, panel: Panel): void {
    panel.button("save picture", "s", () => this.save(stage));
  }

  private save(stage: Stage): void {
    stage.draw();
    stage.renderer.domElement.toBlob((blob) => {
      if (!blob) return;
      const link = element("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${this.title}.png`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
}
