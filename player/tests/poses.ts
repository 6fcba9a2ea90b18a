/** For tests and benchmarks: files as texts, and poses put onto the bones of a loaded scene. */

import type { Object3D } from "three";

import type { PoseSkin } from "../three/index.js";

/** A pose: per joint x y z w, then per joint the translation in metres; and values of controls. */
export interface PoseJson {
  joints: number[];
  controls: Record<string, number>;
}

/** The bytes of a text in base 64. */
export function bytesIn(file: string): ArrayBuffer {
  return Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0)).buffer;
}

/** What puts bones that are at rest, in the order of the skin's, into poses. */
export function strike(bones: Object3D[], skin: PoseSkin): (pose: PoseJson) => void {
  const rests = bones.map((bone) => bone.position.clone());
  return ({ joints, controls }) => {
    bones.forEach((bone, k) => {
      bone.quaternion.fromArray(joints, 4 * k);
      bone.position.fromArray(joints, 4 * bones.length + 3 * k).add(rests[k]);
    });
    Object.assign(skin.controls, controls);
  };
}
