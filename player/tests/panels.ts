/** The studio's panels on a stage, with a link that asks the test. */

import { readFloats } from "../studio/reading.js";
import { Stage } from "../page/stage.js";
import { Background } from "../page/tools/background.js";
import { Camera } from "../page/tools/camera.js";
import type { Arrays, Data, Link } from "../studio/link.js";
import { FitPanel } from "../studio/tools/fit_panel.js";
import { LayersPanel } from "../studio/tools/layers_panel.js";
import { SignalsPanel } from "../studio/tools/signals_panel.js";

const TOOLS = { fit: FitPanel, layers: LayersPanel, signals: SignalsPanel } as const;

declare function ask(what: string, data: Data): Promise<{ ok: Data; floats: Record<string, number[]>; error?: string }>;

/** A link whose requests the test answers, and whose events it makes. */
class TestLink implements Link {
  readonly listeners = new Map<string, Set<(data: Data, arrays: Arrays) => void>>();

  constructor(readonly editor: boolean) {}

  async request(what: string, data: Data = {}): Promise<{ ok: Data; arrays: Arrays }> {
    const { ok, floats, error } = await ask(what, data);
    if (error) throw new Error(error);
    const arrays = Object.fromEntries(Object.entries(floats).map(([name, values]) => [name, new Float32Array(values)]));
    for (const name of Object.keys(arrays)) readFloats(arrays, name);
    return { ok, arrays };
  }

  on(event: string, listener: (data: Data, arrays: Arrays) => void): () => void {
    const heard = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, heard.add(listener));
    return () => heard.delete(listener);
  }
}

/** Show a skin, and the panels of these names. */
async function open(names: (keyof typeof TOOLS)[], editor: boolean): Promise<void> {
  document.body.innerHTML =
    '<div id="view"><canvas id="stage"></canvas></div><div id="side"><main id="panel"></main></div>';
  const canvas = document.getElementById("stage") as HTMLCanvasElement;
  const stage = new Stage(canvas, document.getElementById("panel") as HTMLElement);
  await stage.load(await (await fetch("skin.glb")).arrayBuffer());
  const link = new TestLink(editor);
  const tools = names.map((name) => new TOOLS[name](link));
  for (const tool of [new Background(), new Camera(), ...tools]) stage.add(tool);
  for (const box of document.querySelectorAll("details.panel-box")) box.toggleAttribute("open", true);
  stage.start(() => {
    document.body.dataset.drawn = "yes";
  });
  const hear = (event: string, data: Data) => {
    for (const listener of link.listeners.get(event) ?? []) listener(data, {});
  };
  Object.assign(window, { stage, tools, link, hear });
}

Object.assign(window, { open });
