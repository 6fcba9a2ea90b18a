/** For tests: skins whose surface is posed on the processor, as callers of the player see them. */

import { AnimationMixer, Box3, Group, Raycaster, Scene, Vector3 } from "three";
import type { Mesh } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { clone, posespace } from "../three/index.js";
import type { PoseSkin } from "../three/index.js";
import { bytesIn, strike } from "./poses.js";
import type { PoseJson } from "./poses.js";

async function load(file: string) {
  const gltf = await new GLTFLoader().register(posespace).parseAsync(bytesIn(file), "");
  return { gltf, skin: (gltf.userData.posespace as PoseSkin[])[0] };
}

/** The vertices of all meshes in the world, as ray casts see them. */
function vertices(skin: PoseSkin): number[] {
  const point = new Vector3();
  return skin.meshes.flatMap((mesh) => {
    const { count } = mesh.geometry.getAttribute("position");
    return Array.from({ length: count }, (_, k) =>
      mesh.localToWorld(mesh.getVertexPosition(k, point)).toArray(),
    ).flat();
  });
}

/** A scene whose skin is turned, scaled and moved as a whole: its matrix, its vertices, its control points. */
async function placed(file: string, pose: PoseJson) {
  const { gltf, skin } = await load(file);
  const group = new Group().add(gltf.scene);
  group.position.set(1, 2, 3);
  group.rotation.set(0.3, 0.4, 0.5);
  group.scale.setScalar(2);
  const scene = new Scene().add(group);
  strike(skin.bones, skin)(pose);
  scene.updateMatrixWorld(true);
  const positions = skin.points.flatMap((_, k) => skin.pointPosition(k, new Vector3()).toArray());
  const normals = skin.points.flatMap((_, k) => skin.pointNormal(k, new Vector3()).toArray());
  const box = new Box3().setFromObject(scene, true);
  return {
    matrix: group.matrixWorld.toArray(),
    vertices: vertices(skin),
    positions,
    normals,
    numbers: skin.points.map(({ vertex }) => vertex),
    names: skin.points.map(({ node }) => node.name),
    box: [...box.min.toArray(), ...box.max.toArray()],
    hits: skin.points.map((_, k) => hit(skin, k)),
  };
}

/** How far above a control point a ray along its normal meets the surface. */
function hit(skin: PoseSkin, k: number): number {
  const along = skin.pointNormal(k, new Vector3()).negate();
  const from = skin.pointPosition(k, new Vector3()).addScaledVector(along, -0.01);
  const [first] = new Raycaster(from, along).intersectObjects(skin.meshes as Mesh[]);
  return first ? first.distance - 0.01 : Infinity;
}

/** The vertices of a skin as it is shown with some settings, one after the other. */
async function shown(file: string, pose: PoseJson, settings: Partial<PoseSkin>[]): Promise<number[][]> {
  const { skin } = await load(file);
  strike(skin.bones, skin)(pose);
  return settings.map((some) => {
    Object.assign(skin, some);
    skin.update();
    return vertices(skin);
  });
}

/** The vertices of a skin, and of a copy of it, at times of its first clip; and the names of what the clip moves. */
async function clip(file: string, times: number[]) {
  const { gltf, skin } = await load(file);
  const copy = clone(gltf.scene);
  const said: string[] = [];
  console.warn = (...words: unknown[]) => said.push(words.join(" "));
  const [played] = gltf.animations;
  const at = [gltf.scene, copy.scene].map((scene, k) => {
    const mixer = new AnimationMixer(scene);
    mixer.clipAction(played).play();
    return times.map((time) => {
      mixer.setTime(time);
      scene.updateMatrixWorld(true);
      return vertices(k ? copy.skins[0] : skin);
    });
  });
  const nodes: string[] = [];
  gltf.scene.traverse(({ name }) => nodes.push(name));
  return { first: at[0], copy: at[1], tracks: played.tracks.map(({ name }) => name), nodes, said };
}

/** Attributes of each mesh beside its points and normals, and the skin's vertex behind each of its own. */
async function attributes(file: string) {
  const { skin } = await load(file);
  return skin.meshes.map(({ geometry }) => {
    const names = Object.keys(geometry.attributes);
    const values = (name: string) => [...(geometry.getAttribute(name)?.array ?? [])];
    return { names, uv: values("uv"), index: [...(geometry.index?.array ?? [])], points: values("position") };
  });
}

Object.assign(globalThis, { placed, shown, clip, attributes });
