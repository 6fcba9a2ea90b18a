/** Choosing a sculpt: panels show what they know of it, and the skin goes to its pose. */

import type { Stage } from "../page/stage.js";
import type { Project } from "./project.js";

export async function chooseSculpt(project: Project, stage: Stage, name: string): Promise<void> {
  const pose = await project.poseOf(name);
  const index = project.info?.sculpts.findIndex((row) => row.name === name) ?? -1;
  if (!pose || index < 0) return;
  project.chosen = name;
  stage.posing.take(pose, { kind: "listed", index });
}
