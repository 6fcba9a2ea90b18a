/** For tests: a page to sculpt on, whose server is the test. */

import { Stage } from "../page/stage.js";
import { poseTools } from "../page/pose_tools.js";
import { Camera } from "../page/tools/camera.js";
import { KeyList } from "../page/tools/key_list.js";
import { Picture } from "../page/tools/picture.js";
import { RestPose } from "../page/tools/rest_pose.js";
import type { Answer, Arrays, Data, Link } from "../studio/link.js";
import { Sculpt } from "../studio/tools/sculpt.js";
import { bytesIn } from "./poses.js";

/** Arrays as lists of numbers, which a test can send and read. */
type Lists = Record<string, number[]>;

/** What the test answers with. */
interface Told {
  ok: Data;
  arrays: Lists;
  error?: string;
}

declare const answer: (what: string, data: Data, arrays: Lists) => Promise<Told>;

const KINDS: Record<string, (numbers: number[]) => Arrays[string]> = {
  triangles: (numbers) => Int32Array.from(numbers),
  weld: (numbers) => Int32Array.from(numbers),
  file: (numbers) => Uint8Array.from(numbers),
};

class TestLink implements Link {
  readonly editor = true;
  private readonly listeners = new Map<string, ((data: Data, arrays: Arrays) => void)[]>();

  async request(what: string, data: Data = {}, arrays: Arrays = {}): Promise<Answer> {
    const lists = Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, [...values]]));
    const told = await answer(what, data, lists);
    if (told.error) throw new Error(told.error);
    const read = Object.entries(told.arrays).map(([name, numbers]) => {
      const kind = KINDS[name] ?? ((values: number[]) => Float32Array.from(values));
      return [name, kind(numbers)] as const;
    });
    return { ok: told.ok, arrays: Object.fromEntries(read) };
  }

  on(event: string, listener: (data: Data, arrays: Arrays) => void): () => void {
    const listeners = this.listeners.get(event) ?? [];
    this.listeners.set(event, [...listeners, listener]);
    return () => this.listeners.set(event, this.listeners.get(event)?.filter((other) => other !== listener) ?? []);
  }
}

/** Show a skin, a GLB file in base 64, at a pose. */
async function show(file: string, joints: number[]): Promise<void> {
  const canvas = document.getElementById("stage") as HTMLCanvasElement;
  const stage = new Stage(canvas, document.getElementById("panel") as HTMLElement);
  await stage.load(bytesIn(file));
  stage.background = "#2a2d34";
  const sculpt = new Sculpt(new TestLink());
  const others = [new RestPose(), new Camera(), new Picture("page"), ...poseTools(stage.skins[0]), new KeyList()];
  for (const tool of [sculpt, ...others]) stage.add(tool);
  stage.posing.take({ name: "", joints, controls: {} }, { kind: "hand" });
  new ResizeObserver(() => stage.resize()).observe(canvas);
  stage.start(() => {
    document.body.dataset.ready = "yes";
  });
  Object.assign(window, { posespace: { stage, sculpt } });
}

Object.assign(window, { show });
