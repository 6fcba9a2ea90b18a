/** Dragging a place on the skin: the joints above it follow by inverse kinematics, within their limits. */

import { Vector3 } from "three";

import type { Grip, Pixel } from "../drags.js";
import { choice, element, slider } from "../elements.js";
import { jointBelow, rayThrough } from "../joint_below.js";
import { JOINT_DRAGS } from "../joint_editing.js";
import type { Panel } from "../panel.js";
import { Pull } from "../pull.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

const HINTS = {
  rotate: "Click the skin to select a joint; drag its rings to rotate it.",
  pull: "Drag a fingertip, a hand, a foot: the joints above follow.",
};

/** The most joints that can be asked to follow. */
const MOST_JOINTS = 12;

export class JointPull implements Tool {
  private stage: Stage | null = null;
  private readonly drags = choice(JOINT_DRAGS, "rotate", (drag) => {
    if (this.stage) this.stage.joints.drag = drag;
  });
  private readonly hint = element("p", "hint");
  private readonly said = element("p", "status");
  private readonly length = slider(
    "following",
    0,
    MOST_JOINTS,
    1,
    0,
    (length) => {
      if (this.stage) this.stage.joints.pullLength = length;
    },
    (length) => (length ? `${length}` : "limb"),
  );

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    this.drags.row.setAttribute("role", "group");
    this.drags.row.setAttribute("aria-label", "what a drag does");
    this.said.setAttribute("role", "status");
    this.length.row.title = "how many joints follow; limb: those up to where the skeleton branches";
    panel.append(this.drags.row, this.hint, this.length.row, this.said);
    const choose = (drag: (typeof JOINT_DRAGS)[number]) => () => {
      stage.joints.drag = drag;
    };
    panel.keys("e rotate", { e: choose("rotate") });
    panel.keys("g pull", { g: choose("pull") });
    panel.onDispose(stage.drags.add({ grab: (pixel) => this.grab(stage, pixel) }));
  }

  changed(): void {
    const drag = this.stage?.joints.drag ?? "rotate";
    this.drags.press(drag);
    this.hint.textContent = HINTS[drag];
    this.length.row.hidden = drag !== "pull";
    if (drag !== "pull") this.said.textContent = "";
  }

  private grab(stage: Stage, pixel: Pixel): Grip | null {
    const { joints, posing, picture } = stage;
    const below = joints.drag === "pull" ? jointBelow(stage, pixel) : null;
    if (!below) return null;
    const { joint, position } = below;
    const direction = picture.camera.getWorldDirection(new Vector3());
    let pull: Pull | null = null;
    const release = () => {
      pull?.dispose();
      pull = null;
    };
    return {
      begin: () => {
        joints.select(joint);
        joints.begin();
        pull = new Pull(joints, joint, position, joints.pullLength);
        this.said.textContent = problemOf(stage, joint, pull);
      },
      move: (pointer) => {
        pull?.to(rayThrough(picture, pointer), direction);
        joints.moved();
      },
      end: () => {
        release();
        posing.end();
      },
      cancel: () => {
        release();
        posing.cancel();
      },
      tap: () => joints.select(joint),
    };
  }
}

/** Why less follows than one would expect; empty where nothing is amiss. */
function problemOf({ joints }: Stage, joint: number, { joints: following }: Pull): string {
  const { names, parents } = joints.tree;
  if (!following.length)
    return `Nothing can follow: the limits of ${names[joint]} and of the joints above let none rotate.`;
  if (parents[joint] < 0) return `${names[joint]} has no joint above it and is linked to none: it rotates alone.`;
  return "";
}
