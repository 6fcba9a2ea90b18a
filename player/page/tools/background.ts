/** The colour behind the skin: light or dark, as the system is set. */

import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

const [LIGHT, DARK] = ["#f2f1ee", "#15171c"];

export class Background implements Tool {
  mount(stage: Stage, panel: Panel): void {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const follow = () => {
      stage.background = dark.matches ? DARK : LIGHT;
    };
    dark.addEventListener("change", follow);
    panel.onDispose(() => dark.removeEventListener("change", follow));
    follow();
  }
}
