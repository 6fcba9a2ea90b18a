/** For tests: what becomes of skins when contexts are lost, lights cast shadows, and copies move by themselves. */

import { Mesh, MeshBasicMaterial, MeshLambertMaterial, PCFShadowMap, PlaneGeometry, Scene, WebGLRenderer } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { clone, posespace } from "../three/index.js";
import type { PoseSkin } from "../three/index.js";
import { baked, lamp, overhead, SIZE, sun } from "./lights.js";
import { bytesIn, strike } from "./poses.js";
import type { PoseJson } from "./poses.js";

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

function pixels(renderer: WebGLRenderer): number[] {
  const gl = renderer.getContext();
  const values = new Uint8Array(4 * SIZE * SIZE);
  gl.readPixels(0, 0, SIZE, SIZE, gl.RGBA, gl.UNSIGNED_BYTE, values);
  return [...values].filter((_, k) => k % 4 === 0);
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
    renderer.render(scene, overhead(metres));
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
  renderer.render(scene, overhead(metres));
  const back = heard("webglcontextrestored");
  renderer.forceContextRestore();
  await back;
  const after = draw();
  skin.enabled = false;
  const plain = draw();
  renderer.dispose();
  return [before, after, plain];
}

/** What shadows fall on a wall behind a skin: of the skin, of the same shape baked, and of plain skinning. */
async function shadows(
  file: string,
  pose: PoseJson,
  metres: number,
  kind: "directional" | "point",
): Promise<number[][]> {
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
    const scene = new Scene().add(wall, kind === "point" ? lamp(metres) : sun(metres), shown) as Scene;
    renderer.render(scene, overhead(metres));
    const picture = pixels(renderer);
    renderer.dispose();
    return picture;
  };
  const cast = draw(skin.meshes[0], loaded);
  const wanted = draw(still, still);
  skin.enabled = false;
  return [cast, wanted, draw(skin.meshes[0], loaded)];
}

/** Vertices of a skin and of its copy, which moves by itself; then of the copy alone, when the first is disposed. */
async function copies(file: string, first: PoseJson, second: PoseJson): Promise<number[][]> {
  const { scene, skin } = await load(file);
  const { scene: copy, skins } = clone(scene);
  const both = new Scene().add(scene, copy);
  strike(skin.bones, skin)(first);
  strike(skins[0].bones, skins[0])(second);
  const renderer = rendererOf();
  const seen = (shown: PoseSkin) => {
    both.updateMatrixWorld(true);
    renderer.render(both, overhead(1));
    return [...(baked(shown).geometry.getAttribute("position").array as Float32Array)];
  };
  const vertices = [seen(skin), seen(skins[0])];
  both.remove(scene);
  skin.dispose();
  const error = renderer.getContext().getError();
  vertices.push(seen(skins[0]), [error, renderer.getContext().getError()]);
  renderer.dispose();
  return vertices;
}

Object.assign(globalThis, { loseContext, shadows, copies });
