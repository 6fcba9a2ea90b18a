/** Light or dark: as the system is set, until a button says otherwise. */

import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class Background implements Tool {
  mount(stage: Stage, panel: Panel): void {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const page = document.documentElement;
    const follow = () => {
      stage.background = getComputedStyle(document.body).backgroundColor;
    };
    const toggle = () => {
      const { scheme = system.matches ? "dark" : "light" } = page.dataset;
      page.dataset.scheme = scheme === "dark" ? "light" : "dark";
      follow();
    };
    system.addEventListener("change", follow);
    panel.onDispose(() => {
      system.removeEventListener("change", follow);
      delete page.dataset.scheme;
    });
    panel.button("light or dark", "l", toggle);
    follow();
  }
}
