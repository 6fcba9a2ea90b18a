/** For tests: a camera and lights above a skin, and the skin as a mesh that nothing moves. */

import {
  BufferAttribute,
  BufferGeometry,
  DirectionalLight,
  Mesh,
  OrthographicCamera,
  PointLight,
  Vector3,
} from "three";
import type { Light } from "three";

import type { PoseSkin } from "../three/index.js";

/** Pixels along the sides of pictures. */
export const SIZE = 128;

/** A camera from above that sees a square of so many metres. */
export function overhead(metres: number): OrthographicCamera {
  const camera = new OrthographicCamera(-metres, metres, metres, -metres, 0, 10 * metres);
  camera.position.z = 4 * metres;
  return camera;
}

/** The skin as it is posed now, as a mesh that nothing moves. */
export function baked(skin: PoseSkin): Mesh {
  const [mesh] = skin.meshes;
  const { count } = mesh.geometry.getAttribute("position");
  const points = Array.from({ length: count }, (_, k) => mesh.getVertexPosition(k, new Vector3()).toArray());
  const geometry = new BufferGeometry().setIndex(mesh.geometry.index);
  return new Mesh(geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points.flat()), 3)));
}

/** A light from far away. */
export function sun(metres: number): Light {
  return casting(new DirectionalLight(0xffffff, 3), metres);
}

/** A light from nearby. */
export function lamp(metres: number): Light {
  return casting(new PointLight(0xffffff, 30, 0, 0), metres);
}

function casting(light: DirectionalLight | PointLight, metres: number): Light {
  light.position.set(0.5 * metres, 0.7 * metres, 3 * metres);
  light.castShadow = true;
  const { camera } = light.shadow;
  const sides = { left: -2 * metres, right: 2 * metres, top: 2 * metres, bottom: -2 * metres };
  Object.assign(camera, { ...sides, near: 0.1 * metres, far: 10 * metres });
  camera.updateProjectionMatrix();
  return light;
}
