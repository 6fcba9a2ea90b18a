/** For tests: what becomes of skins when contexts are lost, lights cast shadows, and copies move by themselves. */

import {
  BufferAttribute,
  BufferGeometry,
  DirectionalLight,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  OrthographicCamera,
  PCFShadowMap,
  PlaneGeometry,
  PointLight,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";
import type { Light } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { clone, posespace } from "../src/index.js";
import type { PoseSkin } from "../src/index.js";
import { bytesIn, strike } from "./poses.js";
import type { PoseJson } from "./poses.js";

const SIZE = 128;

async function load(file: string) {
  const gltf = await new GLTFLoader().register(posespace).parseAsync(bytesIn(file), "");
  return { scene: gltf.scene, skin: (gltf.userData.posespace as PoseSkin[])[0] };
}

function rendererOf(): WebGLRenderer {
  const renderer = new WebGLRenderer({ preserveDrawingBuffer: true });
  renderer.setSize(SIZE, SIZE, false);
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  return renderer;
}

/** A camera from above that sees a square of so many metres. */
function cameraOf(metres: number): OrthographicCamera {
  const camera = new OrthographicCamera(-metres, metres, metres, -metres, 0, 10 * metres);
  camera.position.z = 4 * metres;
  return camera;
}

function pixels(renderer: WebGLRenderer): number[] {
  const gl = renderer.getContext();
  const found = new Uint8Array(4 * SIZE * SIZE);
  gl.readPixels(0, 0, SIZE, SIZE, gl.RGBA, gl.UNSIGNED_BYTE, found);
  return [...found].filter((_, k) => k % 4 === 0);
}

/** Pictures before the context is lost and after it is back. */
async function loseContext(file: string, pose: PoseJson, metres: number): Promise<number[][]> {
  const renderer = rendererOf();
  const { scene: loaded, skin } = await load(file);
  const scene = new Scene();
  scene.add(loaded);
  skin.meshes[0].material = new MeshBasicMaterial();
  strike(skin.bones, skin)(pose);
  const draw = () => {
    renderer.render(scene, cameraOf(metres));
    return pixels(renderer);
  };
  const before = draw();
  const canvas = renderer.domElement;
  const pause = () => new Promise((done) => setTimeout(done, 50));
  const heard = (name: string) =>
    new Promise((done, fail) => {
      canvas.addEventListener(name, done, { once: true });
      setTimeout(() => fail(new Error(`no ${name} in 20 s`)), 20_000);
    });
  const lost = heard("webglcontextlost");
  renderer.forceContextLoss();
  await lost;
  await pause(); // The browser must have seen that its event was taken care of.
  // A player goes on drawing meanwhile.
  renderer.render(scene, cameraOf(metres));
  const back = heard("webglcontextrestored");
  renderer.forceContextRestore();
  await back;
  const after = draw();
  skin.enabled = false;
  const plain = draw();
  renderer.dispose();
  return [before, after, plain];
}

/** The skin as it is posed now, as a mesh that nothing moves. */
function baked(skin: PoseSkin): Mesh {
  const [mesh] = skin.meshes;
  const { count } = mesh.geometry.getAttribute("position");
  const points = Array.from({ length: count }, (_, k) => mesh.getVertexPosition(k, new Vector3()).toArray());
  const geometry = new BufferGeometry().setIndex(mesh.geometry.index);
  return new Mesh(geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points.flat()), 3)));
}

function lit(kind: "directional" | "point", metres: number): Light {
  const light = kind === "directional" ? new DirectionalLight(0xffffff, 3) : new PointLight(0xffffff, 30, 0, 0);
  light.position.set(0.5 * metres, 0.7 * metres, 3 * metres);
  light.castShadow = true;
  const { camera } = light.shadow as unknown as { camera: OrthographicCamera };
  Object.assign(camera, { left: -2 * metres, right: 2 * metres, top: 2 * metres, bottom: -2 * metres, near: 0.1 * metres, far: 10 * metres });
  camera.updateProjectionMatrix();
  return light;
}

/** What shadows fall on a wall behind a skin: of the skin, of the same shape baked, and of plain skinning. */
async function shadows(file: string, pose: PoseJson, metres: number, kind: "directional" | "point"): Promise<number[][]> {
  const { scene: loaded, skin } = await load(file);
  strike(skin.bones, skin)(pose);
  loaded.updateMatrixWorld(true);
  const still = baked(skin);
  const wall = new Mesh(new PlaneGeometry(8 * metres, 8 * metres), new MeshLambertMaterial());
  wall.position.z = -metres;
  wall.receiveShadow = true;
  const unseen = { colorWrite: false, depthWrite: false };
  const draw = (object: Mesh, shown: Scene | typeof loaded | Mesh) => {
    const renderer = rendererOf();
    object.castShadow = true;
    object.material = new MeshBasicMaterial(unseen);
    const scene = new Scene().add(wall, lit(kind, metres), shown) as Scene;
    renderer.render(scene, cameraOf(metres));
    const found = pixels(renderer);
    renderer.dispose();
    return found;
  };
  const own = draw(skin.meshes[0], loaded);
  const wanted = draw(still, still);
  skin.enabled = false;
  return [own, wanted, draw(skin.meshes[0], loaded)];
}

/** Vertices of a skin and of its copy, which moves by itself; then of the copy alone, when the first is disposed. */
async function copies(file: string, first: PoseJson, second: PoseJson): Promise<number[][]> {
  const { scene, skin } = await load(file);
  const { scene: copy, skins } = clone(scene);
  const both = new Scene().add(scene, copy);
  strike(skin.bones, skin)(first);
  strike(skins[0].bones, skins[0])(second);
  const renderer = rendererOf();
  const seen = (each: PoseSkin) => {
    both.updateMatrixWorld(true);
    renderer.render(both, cameraOf(1));
    return [...(baked(each).geometry.getAttribute("position").array as Float32Array)];
  };
  const found = [seen(skin), seen(skins[0])];
  both.remove(scene);
  skin.dispose();
  const error = renderer.getContext().getError();
  found.push(seen(skins[0]), [error, renderer.getContext().getError()]);
  renderer.dispose();
  return found;
}

Object.assign(globalThis, { loseContext, shadows, copies });
