/** For the benchmark: the packed shader against three.js's own morph targets, the same skin in the same page. */

import { AmbientLight, Box3, DirectionalLight, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import type { Mesh, Object3D } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { posespace } from "../three/index.js";
import type { PoseSkin } from "../three/index.js";
import { bytesIn, strike } from "./poses.js";
import type { PoseJson } from "./poses.js";

interface Rival {
  name: string;
  scene: Scene;
  /** Move to the pose of a number; drawing is what the renderer does then. */
  pose: (k: number) => void;
}

const BYTES: Record<string, number> = { RGBA32F: 16, RG32F: 8, RGBA32UI: 16, RG32UI: 8, R32UI: 4, RG16F: 4 };

/** Bytes of the textures that are made on the graphics card from now on; not a number where one is of another format. */
function countTextures(gl: WebGL2RenderingContext): () => number {
  let total = 0;
  const sizes = new Map(Object.entries(BYTES).map(([name, bytes]) => [Reflect.get(gl, name) as number, bytes]));
  const sized = (format: number) => sizes.get(format) ?? NaN;
  const [flat, layered] = [gl.texStorage2D.bind(gl), gl.texStorage3D.bind(gl)];
  gl.texStorage2D = (target, levels, format, width, height) => {
    total += sized(format) * width * height;
    flat(target, levels, format, width, height);
  };
  gl.texStorage3D = (target, levels, format, width, height, depth) => {
    total += sized(format) * width * height * depth;
    layered(target, levels, format, width, height, depth);
  };
  return () => total;
}

function staged(object: Object3D): Scene {
  const scene = new Scene();
  const sun = new DirectionalLight(0xffffff, 2);
  sun.position.set(0.3, 1, 0.7);
  scene.add(object, new AmbientLight(0xffffff, 0.5), sun);
  return scene;
}

/** A camera that sees all of the skin. */
function cameraOf(scene: Scene, mesh: Mesh): PerspectiveCamera {
  scene.updateMatrixWorld(true);
  const box = new Box3().setFromObject(mesh, true);
  const [centre, size] = [box.getCenter(new Vector3()), box.getSize(new Vector3()).length()];
  const camera = new PerspectiveCamera(35, 1, size / 100, size * 10);
  camera.position.copy(centre).add(new Vector3(0, 0, 1.6 * size));
  camera.lookAt(centre);
  return camera;
}

/** The rivals: drawn by the player; by three.js's own morph targets; and without either, as plain skinning. */
async function rivals(
  file: string,
  poses: PoseJson[],
): Promise<{ all: Rival[]; skin: PoseSkin; strikeAll: (k: number) => void }> {
  const load = (plugged: boolean) => {
    const loader = new GLTFLoader();
    return (plugged ? loader.register(posespace) : loader).parseAsync(bytesIn(file), "");
  };
  const [packed, morphed, plain] = [await load(true), await load(false), await load(false)];
  const [skin] = packed.userData.posespace as PoseSkin[];
  const strikeOwn = strike(skin.bones, skin);
  const weights = poses.map((_, k) => {
    strikeOwn(poses[k]);
    skin.update();
    return [...(skin.meshes[0].morphTargetInfluences ?? [])];
  });
  const other = (scene: Object3D) => {
    const take = strike(
      skin.bones.map((bone) => scene.getObjectByName(bone.name) as Object3D),
      skin,
    );
    let mesh: Mesh | undefined;
    scene.traverse((child) => (mesh ??= (child as Mesh).isMesh ? (child as Mesh) : undefined));
    return { take, mesh: mesh as Mesh };
  };
  const [theirs, none] = [other(morphed.scene), other(plain.scene)];
  none.mesh.geometry.morphAttributes = {};
  none.mesh.updateMorphTargets();
  const all = [
    // The first, so that what all materials share is not counted as another's.
    { name: "plain skinning", scene: staged(plain.scene), pose: (k: number) => none.take(poses[k]) },
    { name: "packed", scene: staged(packed.scene), pose: (k: number) => strikeOwn(poses[k]) },
    {
      name: "morph targets",
      scene: staged(morphed.scene),
      pose: (k: number) => {
        theirs.take(poses[k]);
        theirs.mesh.morphTargetInfluences = [...weights[k]];
      },
    },
  ];
  return { all, skin, strikeAll: (k) => strikeOwn(poses[k]) };
}

/** Milliseconds per frame of each rival, taking turns; bytes of their textures; milliseconds of a drive; their pictures. */
export async function race(file: string, poses: PoseJson[], size: number, rounds: number, frames: number) {
  const renderer = new WebGLRenderer({ antialias: false, preserveDrawingBuffer: true });
  renderer.setSize(size, size, false);
  const gl = renderer.getContext() as WebGL2RenderingContext;
  const { all, skin, strikeAll } = await rivals(file, poses);
  const camera = cameraOf(all[1].scene, skin.meshes[0]);
  const pixel = new Uint8Array(4);
  const draw = ({ scene, pose }: Rival, k: number) => {
    pose(k % poses.length);
    renderer.render(scene, camera);
  };
  // A pixel that is read waits for all that was drawn before.
  const wait = () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  const bytes: Record<string, number> = {};
  const times: Record<string, number[]> = {};
  const pictures: Record<string, string> = {};
  const counted = countTextures(gl);
  let before = 0;
  for (const rival of all) {
    draw(rival, poses.length - 1);
    pictures[rival.name] = renderer.domElement.toDataURL("image/png");
    [bytes[rival.name], before, times[rival.name]] = [counted() - before, counted(), []];
  }
  for (let round = 0; round < rounds; round++) {
    for (const rival of all) {
      wait();
      const start = performance.now();
      for (let k = 0; k < frames; k++) draw(rival, k);
      wait();
      times[rival.name].push((performance.now() - start) / frames);
    }
  }
  const drives: number[] = [];
  for (let round = 0; round < 30; round++) {
    const start = performance.now();
    for (let k = 0; k < 100; k++) {
      strikeAll(k % poses.length);
      skin.update();
    }
    drives.push((performance.now() - start) / 100);
  }
  const { layers } = skin;
  const targets = (skin.meshes[0].morphTargetInfluences ?? []).length;
  return {
    times,
    bytes,
    drives,
    pictures,
    targets,
    layers: layers.length,
    renderer: gl.getParameter(gl.RENDERER) as string,
  };
}

Object.assign(globalThis, { race });
