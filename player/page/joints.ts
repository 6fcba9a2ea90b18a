/** Sliders for joints within their limits, and for controls. */

import { Quaternion, Vector3 } from "three";
import type { PoseSkin } from "../src/index.js";

import { element, slider } from "./elements.js";
import type { Slider } from "./elements.js";
import type { Stage } from "./stage.js";

const AXES = ["x", "y", "z"] as const;
const FREE = Math.PI / 2;

/** The sliders of a skin; moving one calls `moved`. */
export class JointSliders {
  readonly panel = element("div", "joints");
  private readonly angles: Float64Array;
  private readonly sliders: { slider: Slider; joint: number; axis: number }[] = [];
  private readonly controls: { slider: Slider; name: string }[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly skin: PoseSkin,
    private readonly moved: () => void,
  ) {
    const { joints } = skin.description;
    this.angles = new Float64Array(3 * joints.length);
    for (const name of Object.keys(skin.controls)) this.addControl(name);
    joints.forEach((_, joint) => this.addJoint(joint));
  }

  private addControl(name: string): void {
    const made = slider(name, 0, 1, 0.01, 0, (value) => {
      this.moved();
      this.skin.controls[name] = value;
    });
    this.controls.push({ slider: made, name });
    this.panel.append(made.row);
  }

  private addJoint(joint: number): void {
    const { limits } = this.skin.description.joints[joint];
    const group = element("details");
    group.append(element("summary", "", this.skin.bones[joint].name || `joint ${joint}`));
    AXES.forEach((axis, a) => {
      const [low, high] = limits ? [limits[2 * a], limits[2 * a + 1]] : [-FREE, FREE];
      if (!(high > low)) return;
      const made = slider(axis, degrees(low), degrees(high), 0.5, 0, (value) => {
        this.moved();
        this.angles[3 * joint + a] = (value * Math.PI) / 180;
        this.turn(joint);
      });
      this.sliders.push({ slider: made, joint, axis: a });
      group.append(made.row);
    });
    if (group.childElementCount > 1) this.panel.append(group);
  }

  /** Turn a joint from rest by its angles: together they are a rotation vector along the joint's axes. */
  private turn(joint: number): void {
    const { axes } = this.skin.description.joints[joint];
    const vector = new Vector3();
    for (let a = 0; a < 3; a++) {
      const along = new Vector3(axes[3 * a], axes[3 * a + 1], axes[3 * a + 2]);
      vector.addScaledVector(along, this.angles[3 * joint + a]);
    }
    const angle = vector.length();
    const turned = new Quaternion().setFromAxisAngle(vector.normalize(), angle);
    const { bone, turn } = this.stage.rests[joint];
    bone.quaternion.copy(turn).multiply(turned);
  }

  /** Put all sliders back to rest. */
  reset(): void {
    this.angles.fill(0);
    for (const each of [...this.sliders, ...this.controls]) each.slider.value = 0;
  }
}

function degrees(angle: number): number {
  return Math.round((angle * 1800) / Math.PI) / 10;
}
