/**
 * The shadow of surfaces on level ground, seen from above as a small texture: how dark it is close to the ground (red) and
 * farther up (green), both blurred. Surfaces are drawn as their bones alone place them: a blurred shadow does not show
 * what corrections add, and costs a fraction.
 */

import {
  DoubleSide,
  CustomBlending,
  MaxEquation,
  OneFactor,
  ShaderMaterial,
  Vector2,
  Vector4,
  WebGLRenderTarget,
} from "three";
import { Camera } from "three";
import type { Box3, Scene, Texture, Vector3, WebGLRenderer } from "three";
import { FullScreenQuad } from "three/addons/postprocessing/Pass.js";

/** The layer of the scene whose meshes cast a shadow: surfaces, but no handles and no helpers. */
export const SURFACE = 1;

/** Texels along each side. */
const SIZE = 128;

/** How wide the blur is, and from what height on a surface is no longer close to the ground, over a surface's size. */
const [BLUR, CLOSE] = [0.07, 0.16];

const CASTER = `
uniform float ground;
varying float vAbove;
#include <common>
#include <skinning_pars_vertex>
void main() {
  #include <skinbase_vertex>
  #include <begin_vertex>
  #include <skinning_vertex>
  vec4 world = modelMatrix * vec4(transformed, 1.0);
  vAbove = world.y - ground;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

const DARKNESS = `
uniform float close;
varying float vAbove;
void main() {
  float near = 1.0 - clamp(vAbove / close, 0.0, 1.0);
  gl_FragColor = vec4(near * near, 1.0, 0.0, 1.0);
}`;

const COPY = `
varying vec2 vUv;
void main() {
  vUv = uv;
  gl_Position = vec4(position.xy, 0.0, 1.0);
}`;

/** Nine taps of a Gaussian bell along a line. */
const BELL = `
uniform sampler2D from;
uniform vec2 tap;
varying vec2 vUv;
void main() {
  vec2 sum = 0.204 * texture2D(from, vUv).rg;
  sum += 0.18 * (texture2D(from, vUv + tap).rg + texture2D(from, vUv - tap).rg);
  sum += 0.124 * (texture2D(from, vUv + 2.0 * tap).rg + texture2D(from, vUv - 2.0 * tap).rg);
  sum += 0.066 * (texture2D(from, vUv + 3.0 * tap).rg + texture2D(from, vUv - 3.0 * tap).rg);
  sum += 0.028 * (texture2D(from, vUv + 4.0 * tap).rg + texture2D(from, vUv - 4.0 * tap).rg);
  gl_FragColor = vec4(sum, 0.0, 1.0);
}`;

export class ShadowTexture {
  /** What part of the ground it shows: the x and z of its middle, and half of its extents. */
  readonly area = new Vector4(0, 0, 1, 1);
  private readonly targets = [0, 1].map(() => new WebGLRenderTarget(SIZE, SIZE, { depthBuffer: false }));
  private readonly camera = new Camera();
  private readonly caster: ShaderMaterial;
  private readonly bell = new ShaderMaterial({
    uniforms: { from: { value: null }, tap: { value: new Vector2() } },
    vertexShader: COPY,
    fragmentShader: BELL,
    depthTest: false,
    depthWrite: false,
  });
  private readonly quad = new FullScreenQuad(this.bell);

  /** Parameters: the height of the ground, and the size of the surface. */
  constructor(
    private readonly ground: number,
    private readonly size: number,
  ) {
    this.caster = new ShaderMaterial({
      uniforms: { ground: { value: ground }, close: { value: CLOSE * size } },
      vertexShader: CASTER,
      fragmentShader: DARKNESS,
      side: DoubleSide,
      depthTest: false,
      blending: CustomBlending,
      blendEquation: MaxEquation,
      blendSrc: OneFactor,
      blendDst: OneFactor,
    });
    this.camera.layers.set(SURFACE);
    this.camera.matrixWorldAutoUpdate = false;
  }

  get texture(): Texture {
    return this.targets[0].texture;
  }

  /** Draw the shadow of all surfaces of a scene, which are within a box, by light from a direction. */
  update(renderer: WebGLRenderer, scene: Scene, box: Box3, toLight: Vector3): void {
    this.look(box, toLight);
    const { background } = scene;
    const [sharp, blurred] = this.targets;
    scene.background = null;
    scene.overrideMaterial = this.caster;
    renderer.setClearColor(0x000000);
    renderer.setRenderTarget(sharp);
    renderer.render(scene, this.camera);
    scene.overrideMaterial = null;
    scene.background = background;
    this.blur(renderer, sharp, blurred, (BLUR * this.size) / (8 * this.area.z), 0);
    this.blur(renderer, blurred, sharp, 0, (BLUR * this.size) / (8 * this.area.w));
    renderer.setRenderTarget(null);
  }

  dispose(): void {
    for (const target of this.targets) target.dispose();
    this.caster.dispose();
    this.bell.dispose();
    this.quad.dispose();
  }

  /** Look along the light at the part of the ground that the shadow of a box is on. */
  private look({ min, max }: Box3, toLight: Vector3): void {
    const [alongX, alongZ] = [toLight.x / toLight.y, toLight.z / toLight.y];
    const [low, high] = [min.y - this.ground, max.y - this.ground];
    const margin = BLUR * this.size;
    const left = min.x - Math.max(low * alongX, high * alongX) - margin;
    const right = max.x - Math.min(low * alongX, high * alongX) + margin;
    const back = min.z - Math.max(low * alongZ, high * alongZ) - margin;
    const front = max.z - Math.min(low * alongZ, high * alongZ) + margin;
    const [x, z, width, depth] = [(left + right) / 2, (back + front) / 2, (right - left) / 2, (front - back) / 2];
    this.area.set(x, z, width, depth);
    const tall = Math.max(Math.abs(low), Math.abs(high)) * 2 || 1;
    // Along the light onto the ground; the height becomes the depth.
    this.camera.projectionMatrix.set(
      1 / width,
      -alongX / width,
      0,
      (this.ground * alongX - x) / width,
      0,
      -alongZ / depth,
      1 / depth,
      (this.ground * alongZ - z) / depth,
      0,
      1 / tall,
      0,
      -this.ground / tall,
      0,
      0,
      0,
      1,
    );
    this.camera.projectionMatrixInverse.copy(this.camera.projectionMatrix).invert();
  }

  private blur(renderer: WebGLRenderer, from: WebGLRenderTarget, onto: WebGLRenderTarget, x: number, y: number): void {
    this.bell.uniforms.from.value = from.texture;
    this.bell.uniforms.tap.value.set(x, y);
    renderer.setRenderTarget(onto);
    this.quad.render(renderer);
  }
}
