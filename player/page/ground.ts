/** The ground that the surface stands on: a pale disc that fades out, with the shadow of the key light on it. */

import { CircleGeometry, Color, Mesh, ShaderMaterial, Vector2, Vector3 } from "three";
import type { PerspectiveCamera, Scene, WebGLRenderer } from "three";

import { Extent } from "./extent.js";
import { ShadowTexture, SURFACE } from "./shadow_texture.js";

/** How much of the way from the background to white the disc is. */
const PALER = 0.12;
const WHITE = new Color(1, 1, 1);

/** How dark the shadow is close to the surface and farther away, on black and on white: the eye sees less of it on black. */
const [ON_BLACK, ON_WHITE] = [new Vector2(0.55, 0.5), new Vector2(0.33, 0.22)];

/** The radius of the disc over the size of the surface, and how far below that it is. */
const [RADIUS, GAP] = [1.05, 1e-3];
const SEGMENTS = 48;

/** Where the camera looks along the ground, the disc fades: from this sine of the angle on it is all there. */
const GRAZING = 0.12;

const VERTEX = `
varying vec2 vPlace;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  vPlace = world.xz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

/** Colours are as the screen has them, and mixed with the background here: blending and its colour space cost more. */
const FRAGMENT = `
uniform sampler2D shadow;
uniform vec4 area;
uniform vec2 middle;
uniform float radius;
uniform float strength;
uniform vec3 background;
uniform vec3 pale;
uniform vec2 depth;
varying vec2 vPlace;
void main() {
  vec2 place = (vPlace - area.xy) / area.zw;
  vec2 lit = vec2(1.0);
  // Most of the disc is beside the shadow.
  if (max(abs(place.x), abs(place.y)) < 1.0) lit -= depth * texture2D(shadow, 0.5 * place + 0.5).rg;
  vec2 away = (vPlace - middle) / radius;
  float faded = max(0.0, 1.0 - dot(away, away));
  faded *= faded;
  gl_FragColor = vec4(mix(background, pale * lit.x * lit.y, strength * faded), 1.0);
}`;

export class Ground {
  /** Whether it is in the picture. */
  shown = true;
  private readonly extent: Extent;
  private readonly shadow: ShadowTexture;
  private readonly disc: Mesh<CircleGeometry, ShaderMaterial>;

  /** Parameters: the scene, and the meshes that stand on the ground at rest. */
  constructor(
    private readonly scene: Scene,
    meshes: Mesh[],
  ) {
    scene.updateMatrixWorld(true);
    this.exchange(meshes);
    this.extent = new Extent(meshes);
    const { size, rest } = this.extent;
    const height = rest.min.y - GAP * size;
    this.shadow = new ShadowTexture(height, size);
    const material = new ShaderMaterial({
      uniforms: {
        shadow: { value: this.shadow.texture },
        area: { value: this.shadow.area },
        middle: { value: new Vector2() },
        radius: { value: RADIUS * size },
        strength: { value: 1 },
        background: { value: new Color() },
        pale: { value: new Color() },
        depth: { value: new Vector2() },
      },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      // Drawn before the surface, and never over it: what a pose moves below the ground is still seen.
      depthWrite: false,
    });
    this.disc = new Mesh(new CircleGeometry(RADIUS * size, SEGMENTS).rotateX(-Math.PI / 2), material);
    this.disc.renderOrder = -1;
    this.disc.position.y = height;
    scene.add(this.disc);
  }

  /** Let other meshes of the same bones stand on it. */
  exchange(meshes: Mesh[]): void {
    for (const mesh of meshes) mesh.layers.enable(SURFACE);
  }

  /** Bring disc and shadow up to date with the pose, the camera and the light. */
  update(renderer: WebGLRenderer, camera: PerspectiveCamera, toLight: Vector3): void {
    const { uniforms } = this.disc.material;
    const above = camera.position.y - this.disc.position.y;
    const sine = above / camera.position.distanceTo(this.disc.position);
    uniforms.strength.value = Math.min(1, sine / GRAZING);
    this.disc.visible = this.shown && sine > 0;
    if (!this.disc.visible) return;
    const box = this.extent.now();
    const middle = box.getCenter(new Vector3());
    this.disc.position.set(middle.x, this.disc.position.y, middle.z);
    uniforms.middle.value.set(middle.x, middle.z);
    if (this.scene.background instanceof Color) {
      uniforms.background.value.copyLinearToSRGB(this.scene.background);
      uniforms.pale.value.copy(uniforms.background.value).lerp(WHITE, PALER);
      uniforms.depth.value.copy(ON_BLACK).lerp(ON_WHITE, uniforms.background.value.g);
    }
    this.shadow.update(renderer, this.scene, box, toLight);
  }

  dispose(): void {
    this.disc.removeFromParent();
    this.disc.geometry.dispose();
    this.disc.material.dispose();
    this.shadow.dispose();
  }
}
