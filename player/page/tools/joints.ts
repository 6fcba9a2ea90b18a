/** Sliders for joints within their limits, and for controls: they pose the skin, and follow what else poses it. */

import { Quaternion, Vector3 } from "three";

import { element, slider } from "../elements.js";
import type { Slider } from "../elements.js";
import type { Panel } from "../panel.js";
import { nameOf } from "../posing.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";
import type { PoseSkin } from "../../three/index.js";

const AXES = ["x", "y", "z"] as const;

/** How far a joint without limits turns, in radians. */
const FREE = Math.PI / 2;

interface AngleSlider {
  slider: Slider;
  joint: number;
  axis: number;
  group: HTMLDetailsElement;
}

export class Joints implements Tool {
  private stage: Stage | null = null;
  private skin: PoseSkin | null = null;
  /** Three per joint: its rotation from rest as a rotation vector along its axes. */
  private angles = new Float64Array(0);
  /** Whether a slider is moved right now: it knows its value best. */
  private dragging = false;
  private readonly list = element("div", "joints");
  private readonly sliders: AngleSlider[] = [];
  private readonly controls: { slider: Slider; name: string }[] = [];

  mount(stage: Stage, panel: Panel): void {
    const [skin] = stage.skins;
    const { joints } = skin.description;
    this.stage = stage;
    this.skin = skin;
    this.angles = new Float64Array(3 * joints.length);
    for (const name of Object.keys(skin.controls)) this.addControl(skin, name);
    joints.forEach((_, joint) => {
      this.addJoint(skin, joint);
    });
    panel.append(this.list);
  }

  changed(): void {
    if (!this.dragging) this.follow();
  }

  /** A clip brings new angles with every frame. */
  update(): void {
    if (this.stage?.posing.time !== null) this.follow();
  }

  private addControl(skin: PoseSkin, name: string): void {
    const control = slider(name, 0, 1, 0.01, 0, (value) => {
      this.drag(() => {
        skin.controls[name] = value;
      });
    });
    this.controls.push({ slider: control, name });
    this.list.append(control.row);
  }

  private addJoint(skin: PoseSkin, joint: number): void {
    const { limits } = skin.description.joints[joint];
    const group = element("details");
    group.addEventListener("toggle", () => this.show());
    group.append(element("summary", "", nameOf(skin.bones[joint]) || `joint ${joint}`));
    AXES.forEach((name, axis) => {
      const [low, high] = limits ? [limits[2 * axis], limits[2 * axis + 1]] : [-FREE, FREE];
      if (!(high > low)) return;
      const changed = (value: number) => {
        this.drag(() => {
          this.angles[3 * joint + axis] = (value * Math.PI) / 180;
          this.rotate(skin, joint);
        });
      };
      const angle = slider(name, degrees(low), degrees(high), 0.5, 0, changed, "°");
      this.sliders.push({ slider: angle, joint, axis, group });
      group.append(angle.row);
    });
    if (group.childElementCount > 1) this.list.append(group);
  }

  /** Do what a slider does, and take over from a clip or a listed pose. */
  private drag(pose: () => void): void {
    this.dragging = true;
    pose();
    this.stage?.posing.hold();
    this.dragging = false;
  }

  /** Rotate a joint from rest by its angles. */
  private rotate(skin: PoseSkin, joint: number): void {
    if (!this.stage) return;
    const { axes } = skin.description.joints[joint];
    const vector = new Vector3();
    for (let a = 0; a < 3; a++) {
      const axis = new Vector3(axes[3 * a], axes[3 * a + 1], axes[3 * a + 2]);
      vector.addScaledVector(axis, this.angles[3 * joint + a]);
    }
    const angle = vector.length();
    const fromRest = new Quaternion().setFromAxisAngle(vector.normalize(), angle);
    const { bone, rotation } = this.stage.posing.rests[joint];
    bone.quaternion.copy(rotation).multiply(fromRest);
  }

  /** Bring all sliders to where the joints and controls are. */
  private follow(): void {
    this.skin?.description.joints.forEach(({ axes }, joint) => {
      this.measure(axes, joint);
    });
    this.show();
  }

  /** Show the angles of the joints whose sliders are seen. */
  private show(): void {
    for (const { slider, joint, axis, group } of this.sliders) {
      if (group.open) slider.value = degrees(this.angles[3 * joint + axis]);
    }
    for (const { slider, name } of this.controls) {
      if (this.skin) slider.value = Math.round(100 * this.skin.controls[name]) / 100;
    }
  }

  /** Write the angles by which a joint is rotated from rest: the inverse of `rotate`. */
  private measure(axes: Float64Array, joint: number): void {
    if (!this.stage) return;
    const { bone, rotation } = this.stage.posing.rests[joint];
    const { x, y, z, w } = rotation.clone().invert().multiply(bone.quaternion);
    const sine = Math.hypot(x, y, z);
    // The shorter way round; near rest the vector is twice the axis' part.
    const scale = sine > 1e-12 ? (2 * Math.atan2(sine, Math.abs(w)) * (w < 0 ? -1 : 1)) / sine : 2;
    for (let a = 0; a < 3; a++) {
      this.angles[3 * joint + a] = scale * (x * axes[3 * a] + y * axes[3 * a + 1] + z * axes[3 * a + 2]);
    }
  }
}

function degrees(angle: number): number {
  return Math.round((angle * 1800) / Math.PI) / 10;
}
