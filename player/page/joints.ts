/** Sliders for joints within their limits, and for controls: they move the skin, and follow what else moves it. */

import { type Object3D, Quaternion, Vector3 } from "three";
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
  private readonly sliders: { slider: Slider; joint: number; axis: number; group: HTMLDetailsElement }[] = [];
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
    group.addEventListener("toggle", () => this.show());
    group.append(element("summary", "", nameOf(this.skin.bones[joint]) || `joint ${joint}`));
    AXES.forEach((axis, a) => {
      const [low, high] = limits ? [limits[2 * a], limits[2 * a + 1]] : [-FREE, FREE];
      if (!(high > low)) return;
      const changed = (value: number) => {
        this.moved();
        this.angles[3 * joint + a] = (value * Math.PI) / 180;
        this.turn(joint);
      };
      const made = slider(axis, degrees(low), degrees(high), 0.5, 0, changed, "°");
      this.sliders.push({ slider: made, joint, axis: a, group });
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

  /** Bring all sliders to where the joints and controls are. */
  follow(): void {
    this.skin.description.joints.forEach((_, joint) => this.measure(joint));
    this.show();
  }

  /** Show the angles of the joints whose sliders are seen: a clip brings new ones with every frame. */
  private show(): void {
    for (const { slider, joint, axis, group } of this.sliders) {
      if (group.open) slider.value = degrees(this.angles[3 * joint + axis]);
    }
    for (const { slider, name } of this.controls) slider.value = Math.round(100 * this.skin.controls[name]) / 100;
  }

  /** Find the angles by which a joint is turned from rest, the other way round than `turn`. */
  private measure(joint: number): void {
    const { axes } = this.skin.description.joints[joint];
    const { bone, turn } = this.stage.rests[joint];
    const { x, y, z, w } = turn.clone().invert().multiply(bone.quaternion);
    const sine = Math.hypot(x, y, z);
    // The shorter way round; near rest the vector is twice the axis' part.
    const scale = sine > 1e-12 ? (2 * Math.atan2(sine, Math.abs(w)) * (w < 0 ? -1 : 1)) / sine : 2;
    for (let a = 0; a < 3; a++) {
      this.angles[3 * joint + a] = scale * (x * axes[3 * a] + y * axes[3 * a + 1] + z * axes[3 * a + 2]);
    }
  }
}

/** The name that the file gives a joint: three.js takes dots and other letters out of `name`, "arm.L" becomes "armL". */
function nameOf(bone: Object3D): string {
  const { name } = bone.userData;
  return typeof name === "string" ? name : bone.name;
}

function degrees(angle: number): number {
  return Math.round((angle * 1800) / Math.PI) / 10;
}
