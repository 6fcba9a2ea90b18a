/** One skin in place of another of the same rig: the bones stay, so that the pose and all that holds a bone stay too. */

import { Skeleton } from "three";
import type { Mesh, Object3D, SkinnedMesh } from "three";

import type { PoseSkin } from "../three/index.js";
import { nameOf } from "./posing.js";

/** Whether two skins are of one rig: of the same joints, or of the same control points. */
export function haveSameBones(old: PoseSkin, loaded: PoseSkin): boolean {
  const names = loaded.bones.map(nameOf);
  return names.length === old.bones.length && old.bones.every((bone, k) => nameOf(bone) === names[k]);
}

/** Put the meshes of a loaded skin where those of `old` are, moved by the bones of `old`; returns the skin in its place. */
export function exchange(old: PoseSkin, loaded: PoseSkin): PoseSkin {
  const twin = new Map<Object3D, Object3D>(loaded.bones.map((bone, k) => [bone, old.bones[k]]));
  // Copies: a mesh that a skin drives already keeps what that put there.
  const meshes = loaded.meshes.map((mesh) => copyWith(mesh, (bone) => twin.get(bone) ?? bone));
  old.meshes[0].parent?.add(...meshes);
  const skin = loaded.on(meshes, old.bones);
  Object.assign(skin.controls, old.controls);
  Object.assign(skin, { corrections: old.corrections, detail: old.detail, components: old.components });
  loaded.dispose();
  for (const mesh of old.meshes) discard(mesh);
  old.dispose();
  return skin;
}

/** A copy of a mesh that other bones move; one that is posed on the processor has none of its own. */
function copyWith(mesh: Mesh, twinOf: (bone: Object3D) => Object3D): Mesh {
  const copy = mesh.clone();
  copy.frustumCulled = false;
  if (!isSkinned(mesh) || !isSkinned(copy)) return copy;
  const { bones, boneInverses } = mesh.skeleton;
  copy.bind(new Skeleton(bones.map(twinOf) as typeof bones, boneInverses), mesh.bindMatrix);
  return copy;
}

function isSkinned(mesh: Mesh): mesh is SkinnedMesh {
  return (mesh as SkinnedMesh).isSkinnedMesh;
}

/** Take a mesh away, and give back what it has on the graphics card. */
function discard(mesh: Mesh): void {
  mesh.removeFromParent();
  mesh.geometry.dispose();
  if (isSkinned(mesh)) mesh.skeleton.dispose();
  for (const material of [mesh.material].flat()) {
    for (const value of Object.values(material)) if (value?.isTexture) value.dispose();
    material.dispose();
  }
}
