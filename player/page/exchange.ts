/** One skin in place of another of the same rig: the bones stay, so that the pose and all that holds a bone stay too. */

import { Skeleton } from "three";
import type { Mesh, SkinnedMesh } from "three";

import type { PoseSkin } from "../three/index.js";

/** Put the meshes of a loaded skin where those of `old` are, moved by the bones of `old`; returns the skin in its place. */
export function exchange(old: PoseSkin, loaded: PoseSkin): PoseSkin {
  const twin = new Map(loaded.bones.map((bone, k) => [bone, old.bones[k]]));
  const meshes = loaded.meshes;
  const parent = old.meshes[0].parent;
  for (const mesh of meshes) {
    const { skeleton, bindMatrix } = mesh as SkinnedMesh;
    const bones = skeleton.bones.map((bone) => twin.get(bone) ?? bone);
    (mesh as SkinnedMesh).bind(new Skeleton(bones as typeof skeleton.bones, skeleton.boneInverses), bindMatrix);
    mesh.frustumCulled = false;
    parent?.add(mesh);
  }
  const skin = loaded.on(meshes, old.bones);
  Object.assign(skin.controls, old.controls);
  Object.assign(skin, { corrections: old.corrections, detail: old.detail, components: old.components });
  loaded.dispose();
  for (const mesh of old.meshes) discard(mesh);
  old.dispose();
  return skin;
}

/** Take a mesh away, and give back what it has on the graphics card. */
function discard(mesh: Mesh): void {
  mesh.removeFromParent();
  mesh.geometry.dispose();
  for (const material of [mesh.material].flat()) {
    for (const value of Object.values(material)) if (value?.isTexture) value.dispose();
    material.dispose();
  }
}
