/** The studio's page: what the exported page has, and tools that change the project behind it. */

import { element } from "../page/elements.js";
import { poseTools } from "../page/pose_tools.js";
import { Stage } from "../page/stage.js";
import type { Tool } from "../page/tool.js";
import { Background } from "../page/tools/background.js";
import { Camera } from "../page/tools/camera.js";
import { Clay } from "../page/tools/clay.js";
import { Clips } from "../page/tools/clips.js";
import { Divider } from "../page/tools/divider.js";
import { Heat } from "../page/tools/heat.js";
import { KeyPoses } from "../page/tools/key_poses.js";
import { Picture } from "../page/tools/picture.js";
import { Readout } from "../page/tools/readout.js";
import { Refinements } from "../page/tools/refinements.js";
import { RestPose } from "../page/tools/rest_pose.js";
import { Shadow } from "../page/tools/shadow.js";
import { Timeline } from "../page/tools/timeline.js";
import { Title } from "../page/tools/title.js";
import { Undo } from "../page/tools/undo.js";
import { Views } from "../page/tools/views.js";
import { Wireframe } from "../page/tools/wireframe.js";
import { Project } from "./project.js";
import { ProjectErrors } from "./project_errors.js";
import { SocketLink } from "./socket_link.js";
import { CurrentSkin, bufferOf } from "./tools/current_skin.js";
import { Exports } from "./tools/exports.js";
import { FirstStep } from "./tools/first_step.js";
import { FitPanel } from "./tools/fit_panel.js";
import { KeyHelp } from "./tools/key_help.js";
import { LayersPanel } from "./tools/layers_panel.js";
import { Markers } from "./tools/markers.js";
import { PoseMap } from "./tools/pose_map.js";
import { RadiusCurve } from "./tools/radius_curve.js";
import { Scores } from "./tools/scores.js";
import { Sculpt } from "./tools/sculpt.js";
import { SculptList } from "./tools/sculpt_list.js";
import { SignalsPanel } from "./tools/signals_panel.js";
import { Status } from "./tools/status.js";
import { Truth } from "./tools/truth.js";
import { Unsaved } from "./tools/unsaved.js";

/** The tools of the project's panel, in its order. */
function projectTools(project: Project, shown: number): Tool[] {
  const sculpt = project.info?.editable
    ? new Sculpt(project.link, (name) => {
        project.chosen = name;
      })
    : null;
  return [
    new Title(project.info?.name ?? ""),
    new FirstStep(project, sculpt),
    new Status(project),
    ...(sculpt ? sculptTools(project, sculpt) : []),
    ...(sculpt ? [new FitPanel(project.link), new SignalsPanel(project.link)] : []),
    new LayersPanel(project.link),
    new Exports(project),
    new CurrentSkin(project, shown),
    new KeyHelp(),
  ];
}

/** The tools for sculpts. */
function sculptTools(project: Project, sculpt: Sculpt): Tool[] {
  return [
    new Unsaved(project, sculpt),
    sculpt,
    new SculptList(project),
    new RadiusCurve(project),
    new PoseMap(project),
    new Scores(project),
  ];
}

/** The tools of the panel on the right, in its order. */
function viewTools(stage: Stage, project: Project): Tool[] {
  const [skin] = stage.skins;
  const title = project.info?.name ?? "skin";
  const errors = project.info?.editable ? new ProjectErrors(project) : null;
  const hasPoints = skin.points.length > 0;
  const tools: (Tool | false | null)[] = [
    new Views(),
    new Divider(),
    new Clips(),
    !!project.info?.takes.length && new Markers(project),
    new Timeline(),
    (hasPoints || skin.hasDetail) && new Refinements(),
    ...poseTools(skin),
    new KeyPoses(title),
    new Shadow(),
    new Clay(),
    new Wireframe(),
    new Readout(errors),
    errors && new Heat(errors),
    errors && new Truth(project, errors),
    new Undo(),
    new RestPose(),
    new Camera(),
    new Picture(title),
    new Background(),
  ];
  return tools.filter((tool) => !!tool);
}

/** Wait until the server has said what is open. */
function opened(project: Project): Promise<void> {
  return new Promise((resolve) => {
    const stop = project.onChange(() => {
      if (!project.info) return;
      stop();
      resolve();
    });
  });
}

/** The address of the WebSocket. The token is that of the page's address; it ends with the studio. */
function socketAddress(): string {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  return `ws://${location.host}/socket?token=${encodeURIComponent(token)}`;
}

async function main(): Promise<void> {
  const canvas = document.getElementById("stage") as HTMLCanvasElement;
  const stage = new Stage(canvas, document.getElementById("panel") as HTMLElement);
  const link = new SocketLink(socketAddress());
  const project = new Project(link);
  const ready = opened(project);
  link.connect();
  await ready;
  const { ok, arrays } = await link.request("skin");
  await stage.load(bufferOf(arrays.glb as Uint8Array));
  const side = document.getElementById("project") as HTMLElement;
  for (const tool of viewTools(stage, project)) stage.add(tool);
  for (const tool of projectTools(project, ok.revision as number)) stage.add(tool, side);
  project.onChange(() => stage.notify());
  document.getElementById("fold")?.addEventListener("click", () => document.body.classList.toggle("folded"));
  new ResizeObserver(() => stage.resize()).observe(canvas);
  stage.start(() => {
    document.body.dataset.ready = "yes";
  });
  Object.assign(window, { posespace: { stage, project } });
}

main().catch((error: unknown) => {
  const words = error instanceof Error ? error.message : String(error);
  console.error(`posespace: the studio cannot show its project: ${words}`);
  document.getElementById("project")?.append(element("p", "problem", `This page cannot show the project: ${words}`));
});
