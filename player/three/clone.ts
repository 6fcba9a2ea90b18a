/** Copies of a loaded scene, each with bones and skins of its own; what does not change is shared. */

import type { Mesh, Object3D } from "three";
import { clone as cloneSkeleton } from "three/addons/utils/SkeletonUtils.js";

import { type PoseSkin, skinOf } from "./pose_skin.js";

/** Return a copy of a scene and the skins that drive it. */
export function clone(scene: Object3D): { scene: Object3D; skins: PoseSkin[] } {
  const copy = cloneSkeleton(scene);
  const twin = new Map<Object3D, Object3D>();
  pair(scene, copy, twin);
  const copies = new Map<PoseSkin, Mesh[]>();
  for (const [original, copied] of twin) {
    const skin = skinOf(original);
    if (skin) copies.set(skin, [...(copies.get(skin) ?? []), copied as Mesh]);
  }
  const skins = [...copies].map(([skin, meshes]) =>
    skin.on(
      meshes,
      skin.bones.map((bone) => twin.get(bone) ?? bone),
    ),
  );
  return { scene: copy, skins };
}

function pair(original: Object3D, copy: Object3D, twin: Map<Object3D, Object3D>): void {
  twin.set(original, copy);
  original.children.forEach((child, k) => {
    pair(child, copy.children[k], twin);
  });
}
