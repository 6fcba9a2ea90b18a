/** The stage: camera, lights, the skinned meshes, and the four ways to compare with plain skinning. */

import {
  AnimationMixer,
  Box3,
  Color,
  DirectionalLight,
  HemisphereLight,
  MeshBasicMaterial,
  PerspectiveCamera,
  Scene,
  SRGBColorSpace,
  Vector3,
  WebGLRenderer,
} from "three";
import type { AnimationAction, AnimationClip, Mesh, MeshStandardMaterial, Object3D } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { posespace } from "../src/index.js";
import type { PoseSkin } from "../src/index.js";

export const VIEWS = ["skin", "plain", "split", "overlay"] as const;
export type View = (typeof VIEWS)[number];

/** A bone as it rests. */
interface Rest {
  bone: Object3D;
  turn: Object3D["quaternion"];
  place: Object3D["position"];
}

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(35, 1, 0.001, 1000);
  readonly orbit: OrbitControls;
  view: View = "skin";
  skins: PoseSkin[] = [];
  meshes: Mesh[] = [];
  clips: AnimationClip[] = [];
  rests: Rest[] = [];
  private mixer: AnimationMixer | null = null;
  private action: AnimationAction | null = null;
  private readonly ghost = new MeshBasicMaterial({ color: 0xe4572e, wireframe: true, transparent: true, opacity: 0.35 });
  private readonly sun = new DirectionalLight(0xffffff, 2.2);

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.enableDamping = true;
    this.scene.add(new HemisphereLight(0xffffff, 0x777788, 1.6), this.sun);
  }

  /** Show the skin of a GLB file. */
  async load(file: ArrayBuffer): Promise<void> {
    const gltf = await new GLTFLoader().register(posespace).parseAsync(file, "");
    this.skins = gltf.userData.posespace as PoseSkin[];
    this.clips = gltf.animations;
    this.scene.add(gltf.scene);
    gltf.scene.traverse((object) => {
      if ((object as Mesh).isMesh) this.meshes.push(object as Mesh);
    });
    for (const mesh of this.meshes) mesh.frustumCulled = false;
    this.rests = (this.skins[0]?.bones ?? []).map((bone) => ({
      bone,
      turn: bone.quaternion.clone(),
      place: bone.position.clone(),
    }));
    this.mixer = new AnimationMixer(gltf.scene);
    this.frame();
  }

  /** Bring all of the skin into view. */
  frame(): void {
    this.scene.updateMatrixWorld(true);
    const box = new Box3();
    for (const mesh of this.meshes) box.union(new Box3().setFromObject(mesh, true));
    const centre = box.getCenter(new Vector3());
    const size = box.getSize(new Vector3()).length();
    const narrow = Math.min(1, this.camera.aspect);
    const away = (0.62 * size) / (Math.tan((this.camera.fov * Math.PI) / 360) * narrow);
    this.orbit.target.copy(centre);
    this.camera.position.copy(centre).add(new Vector3(0.35, 0.45, 1).normalize().multiplyScalar(away));
    this.camera.near = away / 100;
    this.camera.far = away * 10;
    this.camera.updateProjectionMatrix();
    this.orbit.update();
  }

  /** Bring all bones back to rest. */
  rest(): void {
    this.stop();
    for (const { bone, turn, place } of this.rests) {
      bone.quaternion.copy(turn);
      bone.position.copy(place);
    }
    for (const skin of this.skins) for (const name of Object.keys(skin.controls)) skin.controls[name] = 0;
  }

  /** Play a clip from its start; null stops. */
  play(clip: AnimationClip | null): void {
    this.stop();
    if (!clip || !this.mixer) return;
    this.action = this.mixer.clipAction(clip).play();
  }

  /** End the clip and keep all bones where they are. */
  hold(): void {
    const held = this.rests.map(({ bone }) => ({ turn: bone.quaternion.clone(), place: bone.position.clone() }));
    this.stop();
    this.rests.forEach(({ bone }, k) => {
      bone.quaternion.copy(held[k].turn);
      bone.position.copy(held[k].place);
    });
  }

  private stop(): void {
    this.action?.stop();
    this.action = null;
  }

  /** How long the clip that plays is, in seconds; null if none does. */
  get duration(): number | null {
    return this.action ? this.action.getClip().duration : null;
  }

  /** The time in the clip that plays, in seconds; null if none does. */
  get time(): number | null {
    return this.action ? this.action.time : null;
  }

  set time(seconds: number | null) {
    if (this.action && seconds !== null) this.action.time = seconds;
    this.mixer?.update(0);
  }

  /** Let a clip move on. */
  advance(seconds: number): void {
    if (this.action) this.mixer?.update(seconds);
  }

  set background(colour: string) {
    this.scene.background = new Color(colour);
  }

  set wireframe(wanted: boolean) {
    for (const material of this.materials) material.wireframe = wanted;
  }

  get materials(): MeshStandardMaterial[] {
    return this.meshes.flatMap((mesh) => mesh.material as MeshStandardMaterial | MeshStandardMaterial[]);
  }

  /** Fit the picture to the size of its place. */
  resize(): void {
    const { clientWidth, clientHeight } = this.renderer.domElement;
    this.camera.aspect = clientWidth / Math.max(1, clientHeight);
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(clientWidth, clientHeight, false);
  }

  /** Called before the skin, or plain skinning, is drawn. */
  wear: (corrected: boolean) => void = () => undefined;

  /** Draw a picture. */
  draw(): void {
    this.orbit.update();
    this.sun.position.copy(this.camera.position).add(new Vector3(0, 1, 0));
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    if (this.view === "split") {
      this.renderer.setScissorTest(true);
      this.part(0, width / 2, height, false);
      this.part(width / 2, width - width / 2, height, true);
      this.renderer.setScissorTest(false);
      return;
    }
    this.show(this.view !== "plain");
    this.renderer.render(this.scene, this.camera);
    if (this.view === "overlay") {
      this.scene.overrideMaterial = this.ghost;
      this.renderer.autoClear = false;
      const { background } = this.scene;
      this.scene.background = null;
      this.renderer.render(this.scene, this.camera);
      this.scene.background = background;
      this.renderer.autoClear = true;
      this.scene.overrideMaterial = null;
    }
  }

  private part(left: number, width: number, height: number, corrected: boolean): void {
    this.show(corrected);
    this.renderer.setScissor(left, 0, width, height);
    this.renderer.render(this.scene, this.camera);
  }

  private show(corrected: boolean): void {
    for (const skin of this.skins) skin.enabled = corrected;
    this.wear(corrected);
  }
}
