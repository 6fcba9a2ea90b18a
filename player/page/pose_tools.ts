/** The tools with which a page poses its skin: joints, or control points, and the controls of either. */

import type { PoseSkin } from "../three/index.js";
import type { Tool } from "./tool.js";
import { Bones } from "./tools/bones.js";
import { Controls } from "./tools/controls.js";
import { Handles } from "./tools/handles.js";
import { JointGizmo } from "./tools/joint_gizmo.js";
import { JointList } from "./tools/joint_list.js";
import { JointPick } from "./tools/joint_pick.js";
import { JointPull } from "./tools/joint_pull.js";
import { JointSliders } from "./tools/joint_sliders.js";
import { PointDrag } from "./tools/point_drag.js";
import { Points } from "./tools/points.js";

/** The tools for a skin, in the order of the panel; those that come first are asked first what a drag is. */
export function poseTools(skin: PoseSkin): Tool[] {
  const controls = Object.keys(skin.controls).length ? [new Controls()] : [];
  if (skin.points.length) return [new Points(), new Handles(), new PointDrag(), ...controls];
  return [
    ...controls,
    new JointGizmo(),
    new JointPull(),
    new JointPick(),
    new Bones(),
    new JointSliders(),
    new JointList(),
  ];
}
