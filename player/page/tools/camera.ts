/** The camera: it orbits by mouse or finger, and a button fits all of the skin into view. */

import { Box3, Matrix4, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import type { Panel } from "../panel.js";
import { positionsOf } from "../positions.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** From where the camera looks at the skin first. */
const DIRECTION = new Vector3(0.35, 0.45, 1).normalize();

/** How much of the picture's width or height the skin takes at most. */
const SHARE = 0.84;

/** Vertices that are looked at to fit all of the skin into view. */
const MOST_VERTICES = 5000;

export class Camera implements Tool {
  private orbit: OrbitControls | null = null;

  mount(stage: Stage, panel: Panel): void {
    const orbit = new OrbitControls(stage.camera, stage.renderer.domElement);
    orbit.enableDamping = true;
    this.orbit = orbit;
    panel.button("fit view", "f", () => fit(stage, orbit));
    fit(stage, orbit);
  }

  update(): void {
    this.orbit?.update();
  }

  dispose(): void {
    this.orbit?.dispose();
  }
}

/** Bring all of the skin into view. */
function fit({ scene, camera, meshes }: Stage, orbit: OrbitControls): void {
  scene.updateMatrixWorld(true);
  const positions = meshes.flatMap((mesh) => positionsOf(mesh, MOST_VERTICES));
  const box = new Box3().setFromPoints(positions);
  const centre = box.getCenter(new Vector3());
  const toCamera = new Matrix4().lookAt(DIRECTION, new Vector3(), camera.up).invert();
  const high = SHARE * Math.tan((camera.fov * Math.PI) / 360);
  // From how far away each vertex is within the picture's height, and its width.
  const distance = positions.reduce((most, position) => {
    const { x, y, z } = position.sub(centre).applyMatrix4(toCamera);
    return Math.max(most, z + Math.max(Math.abs(y), Math.abs(x) / camera.aspect) / high);
  }, 0);
  orbit.target.copy(centre);
  camera.position.copy(centre).addScaledVector(DIRECTION, distance);
  camera.near = distance / 100;
  camera.far = distance * 10;
  camera.updateProjectionMatrix();
  orbit.update();
}
