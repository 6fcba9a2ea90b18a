/** The lights of a picture: a key light from the upper left, a weak one from the right, and light from all around. */

import { DirectionalLight, HemisphereLight, Vector3 } from "three";
import type { Camera, Scene } from "three";

/** Where the key light and the fill light come from: to the right of the camera, up, and towards the camera. */
const KEY = new Vector3(-0.55, 1.05, 0.6).normalize();
const FILL = new Vector3(0.9, 0.2, 0.4).normalize();

const UP = new Vector3(0, 1, 0);

/** They go round the ground with the camera, so that form is seen from all sides, but not up and down with it: shadows stay on the ground. */
export class Lighting {
  /** The direction from the scene to the key light, in the world. */
  readonly toKey = KEY.clone();
  private readonly key = new DirectionalLight(0xfff4e6, 2.5);
  private readonly fill = new DirectionalLight(0xdfe9ff, 0.55);

  constructor(scene: Scene) {
    scene.add(new HemisphereLight(0xffffff, 0x8f867a, 1.15), this.key, this.fill);
  }

  /** Let the lights go round with a camera whose matrix is up to date. */
  follow(camera: Camera): void {
    const right = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0);
    const towards = right.clone().cross(UP).normalize();
    const placed = (from: Vector3, target: Vector3) =>
      target.set(0, from.y, 0).addScaledVector(right, from.x).addScaledVector(towards, from.z);
    placed(KEY, this.toKey);
    placed(FILL, this.fill.position);
    this.key.position.copy(this.toKey);
  }
}
