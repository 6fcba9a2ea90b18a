/** For tests: what the player's node materials make of a file, read back from WebGPURenderer. */

import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import * as tsl from "three/tsl";
import {
  FloatType,
  Mesh,
  MeshBasicNodeMaterial,
  MeshLambertNodeMaterial,
  NearestFilter,
  NoBlending,
  OrthographicCamera,
  PlaneGeometry,
  RenderTarget,
  RGBAFormat,
  Scene,
  WebGPURenderer,
} from "three/webgpu";
import type { Object3D } from "three/webgpu";

import { posespace } from "../three/webgpu.js";
import type { PoseSkin } from "../three/webgpu.js";
import { baked, overhead, SIZE, sun } from "./lights.js";
import { bytesIn, strike } from "./poses.js";
import type { PoseJson } from "./poses.js";

const WIDTH = 256;

// biome-ignore lint/suspicious/noExplicitAny: nodes are built at run time, their types say little
const { float, normalLocal, positionLocal, varying, vec4, vertexIndex } = tsl as any;

async function started(webgl: boolean): Promise<WebGPURenderer> {
  const renderer = new WebGPURenderer({ forceWebGL: webgl, antialias: false });
  await renderer.init();
  return renderer;
}

/** A material that writes positions or normals instead of colours, one pixel per vertex. */
function capturing(what: "points" | "normals", height: number, webgl: boolean): MeshBasicNodeMaterial {
  const material = new MeshBasicNodeMaterial({ blending: NoBlending });
  const [column, row] = [vertexIndex.mod(WIDTH), vertexIndex.div(WIDTH)];
  const centre = (k: unknown, count: number) => float(k).add(0.5).div(count).mul(2).sub(1);
  // The first row is at the top, in WebGL at the bottom.
  const up = webgl ? 1 : -1;
  material.vertexNode = vec4(centre(column, WIDTH), centre(row, height).mul(up), 0, 1);
  material.outputNode = vec4(varying(what === "points" ? positionLocal : normalLocal), 1);
  return material;
}

/** What a mesh gives at each pose, drawn as points into a texture of numbers. */
async function read(
  renderer: WebGPURenderer,
  scene: Scene,
  mesh: Mesh,
  what: "points" | "normals",
  poses: (() => void)[],
): Promise<number[][]> {
  const count = mesh.geometry.getAttribute("position").count;
  const height = Math.ceil(count / WIDTH);
  const target = new RenderTarget(WIDTH, height, {
    type: FloatType,
    format: RGBAFormat,
    minFilter: NearestFilter,
    magFilter: NearestFilter,
    depthBuffer: false,
  });
  const { index } = mesh.geometry;
  const { isWebGPUBackend } = renderer.backend as unknown as { isWebGPUBackend?: boolean };
  mesh.material = capturing(what, height, !isWebGPUBackend);
  mesh.geometry.setIndex(null);
  // Drawn as points, still moved by its bones.
  Object.assign(mesh, { isMesh: false, isPoints: true, frustumCulled: false });
  renderer.setRenderTarget(target);
  const captures: number[][] = [];
  for (const pose of poses) {
    pose();
    // The renderer reads bones once per frame of the browser.
    await new Promise(requestAnimationFrame);
    renderer.render(scene, new OrthographicCamera());
    const pixels = (await renderer.readRenderTargetPixelsAsync(target, 0, 0, WIDTH, height)) as Float32Array;
    captures.push(Array.from({ length: 3 * count }, (_, k) => pixels[4 * Math.floor(k / 3) + (k % 3)]));
  }
  Object.assign(mesh, { isMesh: true, isPoints: false });
  mesh.geometry.setIndex(index);
  renderer.setRenderTarget(null);
  target.dispose();
  return captures;
}

/** Positions and normals of the mesh at each pose, and which backend drew them. */
async function captureNodes(file: string, poses: PoseJson[], webgl: boolean) {
  const renderer = await started(webgl);
  const gltf = await new GLTFLoader().register(posespace).parseAsync(bytesIn(file), "");
  const scene = new Scene();
  scene.add(gltf.scene);
  const [skin] = gltf.userData.posespace as PoseSkin[];
  const take = strike(skin.bones, skin);
  const calls = poses.map((pose) => () => take(pose));
  const points = await read(renderer, scene, skin.meshes[0] as Mesh, "points", calls);
  const normals = await read(renderer, scene, skin.meshes[0] as Mesh, "normals", calls);
  skin.dispose();
  const { isWebGPUBackend } = renderer.backend as unknown as { isWebGPUBackend?: boolean };
  renderer.dispose();
  const captures = points.map((vectors, k) => ({ points: vectors, normals: normals[k] }));
  return { captures, backend: isWebGPUBackend ? "webgpu" : "webgl" };
}

/** What shadow falls on a wall behind a skin: of the skin, of the same shape baked, and of plain skinning. */
async function shadowNodes(file: string, pose: PoseJson, metres: number, webgl: boolean): Promise<number[][]> {
  const renderer = await started(webgl);
  renderer.shadowMap.enabled = true;
  const gltf = await new GLTFLoader().register(posespace).parseAsync(bytesIn(file), "");
  const [skin] = gltf.userData.posespace as PoseSkin[];
  strike(skin.bones, skin)(pose);
  gltf.scene.updateMatrixWorld(true);
  const still = baked(skin);
  const target = new RenderTarget(SIZE, SIZE);
  const wall = new Mesh(new PlaneGeometry(8 * metres, 8 * metres), new MeshLambertNodeMaterial());
  wall.position.z = -metres;
  wall.receiveShadow = true;
  const draw = async (caster: Mesh, shown: Object3D) => {
    caster.castShadow = true;
    caster.frustumCulled = false;
    caster.material = new MeshBasicNodeMaterial({ colorWrite: false, depthWrite: false });
    const scene = new Scene();
    scene.add(wall, sun(metres), shown);
    renderer.setRenderTarget(target);
    await new Promise(requestAnimationFrame);
    renderer.render(scene, overhead(metres));
    const pixels = (await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE)) as Uint8Array;
    return [...pixels].filter((_, k) => k % 4 === 0);
  };
  const cast = await draw(skin.meshes[0] as Mesh, gltf.scene);
  const wanted = await draw(still, still);
  skin.enabled = false;
  const plain = await draw(skin.meshes[0] as Mesh, gltf.scene);
  renderer.dispose();
  return [cast, wanted, plain];
}

Object.assign(globalThis, { captureNodes, shadowNodes });
