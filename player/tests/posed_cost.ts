/** For benchmarks: what posing a surface on the processor takes, step by step. */

import { EXTENSION } from "../core/description.js";
import { PosedSurface } from "../core/posed/posed_surface.js";
import { readPosed } from "../core/posed/read_posed.js";
import { Glb } from "./glb.js";
import type { PoseJson } from "./poses.js";
import { describe, Puppet } from "./puppet.js";

declare const process: { cpuUsage(): { user: number; system: number } };

const ROUNDS = 9;
const ALL = { enabled: true, corrections: true, detail: true };
const none = new Float64Array(0);

/** Milliseconds of the processor so far: unlike a clock's, they do not grow with what else a machine does. */
function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds that loading, the bones, whole frames and another beta take: the median over rounds of all poses. */
export async function cost(file: ArrayBuffer, poses: PoseJson[]) {
  const glb = new Glb(file);
  const description = describe(glb);
  const started = spent();
  const skin = await readPosed(glb.json.extensions[EXTENSION], glb, description);
  if (!skin) throw new Error("expected a skin with learned bones or detail");
  const load = spent() - started;
  const puppet = new Puppet(glb, description);
  const stage = skin.stageOf(puppet.bones);
  const surface = new PosedSurface(skin, stage);
  const play = (shown: typeof ALL) => {
    let [bones, frame] = [0, 0];
    for (const pose of poses) {
      puppet.strike(pose, stage.features);
      const before = spent();
      const moved = stage.update();
      const between = spent();
      surface.update(moved, none, () => 0, shown);
      bones += between - before;
      frame += spent() - before;
    }
    return { bones: bones / poses.length, frame: frame / poses.length };
  };
  for (let k = 0; k < 3; k++) play(ALL);
  const rounds = Array.from({ length: ROUNDS }, (_, k) => {
    const begun = spent();
    stage.beta = 20 + k;
    const beta = spent() - begun;
    return { beta, ...play(ALL), coarse: play({ ...ALL, detail: false }).frame };
  });
  const median = (name: keyof (typeof rounds)[0]) => {
    const sorted = rounds.map((round) => round[name]).sort((a, b) => a - b);
    return sorted[Math.floor(ROUNDS / 2)];
  };
  return { load, bones: median("bones"), frame: median("frame"), coarse: median("coarse"), beta: median("beta") };
}
