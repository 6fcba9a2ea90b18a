/** The camera: it orbits by mouse or finger, and a button fits all of the skin into view. */

import { Box3, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

/** From where the camera looks at the skin first. */
const DIRECTION = new Vector3(0.35, 0.45, 1).normalize();

/** Half of what the camera sees, over the diagonal of the skin's box. */
const MARGIN = 0.62;

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
  const box = new Box3();
  for (const mesh of meshes) box.union(new Box3().setFromObject(mesh, true));
  const centre = box.getCenter(new Vector3());
  const diagonal = box.getSize(new Vector3()).length();
  const narrow = Math.min(1, camera.aspect);
  const distance = (MARGIN * diagonal) / (Math.tan((camera.fov * Math.PI) / 360) * narrow);
  orbit.target.copy(centre);
  camera.position.copy(centre).addScaledVector(DIRECTION, distance);
  camera.near = distance / 100;
  camera.far = distance * 10;
  camera.updateProjectionMatrix();
  orbit.update();
}
