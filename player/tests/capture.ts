/** For tests: what the player's vertex shader makes of a file, read back from the graphics card. */

import {
  FloatType,
  MeshBasicMaterial,
  NearestFilter,
  OrthographicCamera,
  RGBAFormat,
  Scene,
  WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import type { Mesh, Object3D } from "three";
import { MeshoptDecoder } from "three/addons/libs/meshopt_decoder.module.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { clone, posespace } from "../three/index.js";
import type { PoseSkin } from "../three/index.js";
import { bytesIn, strike } from "./poses.js";
import type { PoseJson } from "./poses.js";

const WIDTH = 256;

async function load(file: string): Promise<{ scene: Object3D; skins: PoseSkin[]; errors: string[] }> {
  const errors: string[] = [];
  const said = console.error;
  console.error = (...words: unknown[]) => errors.push(words.join(" "));
  const gltf = await new GLTFLoader()
    .setMeshoptDecoder(MeshoptDecoder)
    .register(posespace)
    .parseAsync(bytesIn(file), "");
  console.error = said;
  return { scene: gltf.scene, skins: gltf.userData.posespace as PoseSkin[], errors };
}

/** A material that writes positions or normals instead of colours, one pixel per vertex. */
function capturing(what: "transformed" | "objectNormal", height: number): MeshBasicMaterial {
  const material = new MeshBasicMaterial();
  material.onBeforeCompile = (shader) => {
    const pixel = `vec2((float(gl_VertexID % ${WIDTH}) + 0.5) / ${WIDTH}.0, (float(gl_VertexID / ${WIDTH}) + 0.5) / ${height}.0)`;
    const vertex = shader.vertexShader
      // The basic material computes normals only for reflections.
      .replace("#if defined ( USE_ENVMAP ) || defined ( USE_SKINNING )", "#if 1")
      .replace("void main() {", "varying vec3 captured;\nvoid main() {")
      .replace(
        "#include <fog_vertex>",
        `captured = ${what}; gl_Position = vec4(2.0 * ${pixel} - 1.0, 0.0, 1.0); gl_PointSize = 1.0;`,
      );
    shader.vertexShader = vertex;
    shader.fragmentShader = "varying vec3 captured;\nvoid main() { gl_FragColor = vec4(captured, 1.0); }";
  };
  material.customProgramCacheKey = () => `${what} ${height}`;
  return material;
}

/** Draw a mesh as points into a texture of numbers. */
function read(renderer: WebGLRenderer, scene: Scene, mesh: Mesh, what: "transformed" | "objectNormal"): number[] {
  const count = mesh.geometry.getAttribute("position").count;
  const height = Math.ceil(count / WIDTH);
  const target = new WebGLRenderTarget(WIDTH, height, {
    type: FloatType,
    format: RGBAFormat,
    minFilter: NearestFilter,
    magFilter: NearestFilter,
  });
  const { index } = mesh.geometry;
  mesh.material = capturing(what, height);
  mesh.geometry.setIndex(null);
  // Drawn as points, still moved by its bones.
  Object.assign(mesh, { isMesh: false, isPoints: true, frustumCulled: false });
  renderer.setRenderTarget(target);
  renderer.clear();
  renderer.render(scene, new OrthographicCamera());
  const pixels = new Float32Array(4 * WIDTH * height);
  renderer.readRenderTargetPixels(target, 0, 0, WIDTH, height, pixels);
  Object.assign(mesh, { isMesh: true, isPoints: false });
  mesh.geometry.setIndex(index);
  target.dispose();
  const vectors: number[] = [];
  for (let vertex = 0; vertex < count; vertex++) vectors.push(...pixels.subarray(4 * vertex, 4 * vertex + 3));
  return vectors;
}

/** Positions, normals and positions on the processor of all meshes, and coordinates of all drivers, at each pose. */
async function capture(file: string, poses: PoseJson[]) {
  const { scene: loaded, skins, errors } = await load(file);
  const renderer = new WebGLRenderer();
  const scene = new Scene();
  scene.add(loaded);
  const [skin] = skins;
  const take = strike(skin.bones, skin);
  const captures = poses.map((pose) => {
    take(pose);
    const points = skin.meshes.flatMap((mesh) => read(renderer, scene, mesh, "transformed"));
    const normals = skin.meshes.flatMap((mesh) => read(renderer, scene, mesh, "objectNormal"));
    const picked = skin.meshes.flatMap((mesh) => vertex(mesh));
    return { points, normals, picked, coordinates: [...skin.coordinates] };
  });
  const bytes = skin.textureBytes;
  skin.dispose();
  renderer.dispose();
  return { captures, errors, bytes };
}

/** A few vertices as raycasting sees them. */
function vertex(mesh: Mesh): number[] {
  mesh.updateMatrixWorld(true);
  const count = mesh.geometry.getAttribute("position").count;
  return [0, Math.floor(count / 2), count - 1].flatMap((k) =>
    mesh.getVertexPosition(k, mesh.position.clone()).toArray(),
  );
}

/** How many textures, geometries and programs are left when copies have come and gone. */
async function comeAndGo(file: string, copies: number, times: number): Promise<number[][]> {
  const renderer = new WebGLRenderer();
  const counts: number[][] = [];
  for (let time = 0; time < times; time++) {
    const { scene: loaded, skins } = await load(file);
    const scene = new Scene();
    const all = [{ scene: loaded, skins }, ...Array.from({ length: copies - 1 }, () => clone(loaded))];
    for (const copy of all) scene.add(copy.scene);
    renderer.render(scene, new OrthographicCamera());
    for (const copy of all) for (const skin of copy.skins) skin.dispose();
    loaded.traverse((object) => (object as Mesh).geometry?.dispose());
    for (const copy of all) {
      copy.scene.traverse((object) => {
        const { skeleton } = object as unknown as { skeleton?: { dispose(): void } };
        skeleton?.dispose();
      });
    }
    const { memory, programs } = renderer.info;
    counts.push([memory.textures, memory.geometries, programs?.length ?? 0]);
  }
  renderer.dispose();
  return counts;
}

/** What errors a file gives, how many skins and morph targets it plays with, and the shaders it is drawn by. */
async function draw(file: string) {
  const { scene, skins, errors } = await load(file);
  const renderer = new WebGLRenderer();
  renderer.render(new Scene().add(scene), new OrthographicCamera());
  const gl = renderer.getContext();
  const shaders = (renderer.info.programs ?? []).flatMap(({ program }) =>
    gl.getAttachedShaders(program as WebGLProgram)?.map((shader) => gl.getShaderSource(shader) ?? ""),
  );
  let morphs = 0;
  scene.traverse((object) => {
    morphs += (object as Mesh).geometry?.morphAttributes.position?.length ?? 0;
  });
  const glError = gl.getError();
  renderer.dispose();
  return { errors, skins: skins.length, morphs, shaders, glError };
}

Object.assign(globalThis, { capture, comeAndGo, draw });
