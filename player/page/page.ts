/** The page: a skin to look at, pose and compare, in one file that needs no server and no network. */

import { bytesOf, readData, unzipped } from "./data.js";
import type { PageData } from "./data.js";
import type { PoseSkin } from "../three/index.js";
import { element } from "./elements.js";
import { StoredErrors } from "./errors.js";
import { poseTools } from "./pose_tools.js";
import { Stage } from "./stage.js";
import type { Tool } from "./tool.js";
import { Background } from "./tools/background.js";
import { Camera } from "./tools/camera.js";
import { Clay } from "./tools/clay.js";
import { Clips } from "./tools/clips.js";
import { Components } from "./tools/components.js";
import { Divider } from "./tools/divider.js";
import { Heat } from "./tools/heat.js";
import { KeyList } from "./tools/key_list.js";
import { KeyPoses } from "./tools/key_poses.js";
import { ListedPoses } from "./tools/listed_poses.js";
import { Picture } from "./tools/picture.js";
import { Readout } from "./tools/readout.js";
import { Refinements } from "./tools/refinements.js";
import { RestPose } from "./tools/rest_pose.js";
import { Shadow } from "./tools/shadow.js";
import { Timeline } from "./tools/timeline.js";
import { Title } from "./tools/title.js";
import { Undo } from "./tools/undo.js";
import { Views } from "./tools/views.js";
import { Wireframe } from "./tools/wireframe.js";

/** The tools of a page, in the order of the panel: those that the skin has something for. */
function toolsFor({ title, poses, heat }: PageData, skin: PoseSkin | undefined): Tool[] {
  const hasPoints = !!skin?.points.length;
  const errors = heat && new StoredErrors(heat);
  const tools: (Tool | false | null | undefined)[] = [
    new Title(title),
    new Views(),
    new Divider(),
    new Clips(),
    new Timeline(),
    poses.length > 0 && new ListedPoses(poses, heat),
    !!skin?.layers.length && new Components(),
    skin && (hasPoints || skin.hasDetail) && new Refinements(),
    ...(skin ? poseTools(skin) : []),
    skin && new KeyPoses(title),
    new Shadow(),
    new Clay(),
    new Wireframe(),
    skin && new Readout(errors),
    skin && errors && new Heat(errors),
    skin && new Undo(),
    new RestPose(),
    new Camera(),
    new Picture(title),
    new Background(),
    new KeyList(),
  ];
  return tools.filter((tool) => !!tool);
}

async function main(): Promise<void> {
  const data = readData();
  const canvas = document.getElementById("stage") as HTMLCanvasElement;
  const stage = new Stage(canvas, document.getElementById("panel") as HTMLElement);
  await stage.load(await unzipped(bytesOf(data.glb)));
  for (const tool of toolsFor(data, stage.skins[0])) stage.add(tool);
  document.getElementById("fold")?.addEventListener("click", () => document.body.classList.toggle("folded"));
  new ResizeObserver(() => stage.resize()).observe(canvas);
  stage.start(() => {
    if (!document.body.dataset.ready) performance.mark("first frame");
    document.body.dataset.ready = "yes";
  });
  Object.assign(window, { posespace: { stage } });
}

main().catch((error: unknown) => {
  const words = error instanceof Error ? error.message : String(error);
  console.error(`posespace: the page cannot show its skin: ${words}`);
  document.getElementById("panel")?.append(element("p", "problem", `This browser cannot show the skin: ${words}`));
});
