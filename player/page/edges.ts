/** The edges of all triangles, drawn over a picture. */

import { Color } from "three";
import type { Mesh, MeshStandardMaterial, PerspectiveCamera, Scene, WebGLRenderer } from "three";

import { SURFACE } from "./shadow_texture.js";

const COLOUR = new Color(0xe4572e);
const OPACITY = 0.35;

/** What a material is like while its edges are drawn: lights do not matter. */
const LOOK = { wireframe: true, transparent: true, opacity: OPACITY };

/**
 * Draw the edges of the surfaces that a scene shows over what is drawn. The surfaces keep their materials, which look
 * otherwise for a moment: another material would not have their displacements.
 */
export function drawEdges(renderer: WebGLRenderer, scene: Scene, camera: PerspectiveCamera): void {
  const restore = materialsOf(scene).map(toEdges);
  const { background } = scene;
  const { mask } = camera.layers;
  scene.background = null;
  renderer.autoClear = false;
  camera.layers.set(SURFACE);
  renderer.render(scene, camera);
  camera.layers.mask = mask;
  renderer.autoClear = true;
  scene.background = background;
  for (const back of restore) back();
}

function materialsOf(scene: Scene): MeshStandardMaterial[] {
  const found = new Set<MeshStandardMaterial>();
  scene.traverseVisible((object) => {
    if (!object.layers.isEnabled(SURFACE)) return;
    for (const material of [(object as Mesh).material].flat()) found.add(material as MeshStandardMaterial);
  });
  return [...found];
}

/** Let a material draw edges; returns what makes it as it was. */
function toEdges(material: MeshStandardMaterial): () => void {
  const { wireframe, transparent, opacity } = material;
  const colour = material.color.clone();
  const emissive = material.emissive?.clone();
  Object.assign(material, LOOK, { needsUpdate: !transparent });
  // What gives off light is not lit; materials that are not lit at all have a colour only.
  material.color.copy(emissive ? new Color(0) : COLOUR);
  material.emissive?.copy(COLOUR);
  return () => {
    Object.assign(material, { wireframe, transparent, opacity, needsUpdate: !transparent });
    material.color.copy(colour);
    if (emissive) material.emissive.copy(emissive);
  };
}
