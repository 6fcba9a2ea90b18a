/** The selected joint: a slider for each of its angles, within its limits, that follows what else poses the joint. */

import { button, element, slider } from "../elements.js";
import type { Slider } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

const AXES = ["x", "y", "z"] as const;

/** How far the slider of a joint without limits goes, in radians. */
const FREE = Math.PI / 2;

export class JointSliders implements Tool {
  private stage: Stage | null = null;
  /** The joint whose sliders are there; -1: none. */
  private joint = -1;
  private sliders: { slider: Slider; axis: number }[] = [];
  private readonly box = element("div", "joint");
  private readonly name = element("h2");
  private readonly list = element("div", "joint-angles");
  private readonly hint = element("p", "hint");

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const head = element("div", "row buttons");
    const reset = () => {
      if (stage.joints.selected >= 0) stage.joints.reset(stage.joints.selected);
    };
    head.append(this.name, button("reset joint", "key x: bring this joint back to rest", reset));
    panel.keys("x reset joint", { x: reset });
    this.list.addEventListener("change", () => stage.posing.end());
    this.box.append(head, this.list, this.hint);
    panel.append(this.box);
  }

  changed(): void {
    if (!this.stage) return;
    const { selected } = this.stage.joints;
    if (selected !== this.joint) this.makeSliders(this.stage, selected);
    this.box.hidden = selected < 0;
    this.follow();
  }

  /** A clip brings new angles with every frame. */
  update(): void {
    if (this.stage?.posing.moving) this.follow();
  }

  private makeSliders(stage: Stage, joint: number): void {
    this.joint = joint;
    this.sliders = [];
    if (joint < 0) return;
    const { joints } = stage;
    const angles = joints.anglesOf(joint);
    this.name.textContent = joints.tree.names[joint];
    for (const [axis, name] of AXES.entries()) {
      if (!angles.rotates(axis)) continue;
      const [low, high] = angles.limited ? [angles.least[axis], angles.largest[axis]] : [-FREE, FREE];
      const changed = (value: number) => this.rotate(stage, axis, value);
      const angle = slider(name, degrees(low), degrees(high), 0.5, 0, changed, "°");
      this.sliders.push({ slider: angle, axis });
    }
    this.list.replaceChildren(...this.sliders.map(({ slider }) => slider.row));
    this.hint.textContent = angles.free ? "" : "Its limits let it not rotate.";
    this.hint.hidden = angles.free;
  }

  private rotate({ joints }: Stage, axis: number, value: number): void {
    const { joint } = this;
    const angles = joints.measure(joint);
    angles[axis] = (value * Math.PI) / 180;
    joints.begin();
    joints.rotate(joint, angles);
    joints.moved();
  }

  private follow(): void {
    if (!this.stage || this.joint < 0) return;
    const angles = this.stage.joints.measure(this.joint);
    for (const { slider, axis } of this.sliders) slider.value = degrees(angles[axis]);
  }
}

function degrees(angle: number): number {
  return Math.round((angle * 1800) / Math.PI) / 10;
}
