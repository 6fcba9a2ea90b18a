/** The stage: the skinned meshes, lights, the four ways to compare with plain skinning, and the tools of the page. */

import {
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
import type { Mesh, MeshStandardMaterial } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { posespace } from "../three/index.js";
import type { PoseSkin } from "../three/index.js";
import { Keys } from "./keys.js";
import { Panel } from "./panel.js";
import { Posing } from "./posing.js";
import type { Tool } from "./tool.js";

export const VIEWS = ["skin", "plain", "split", "overlay"] as const;
export type View = (typeof VIEWS)[number];

/** The longest time between frames that a clip goes on by, in seconds: a hidden page draws none. */
const LONGEST_FRAME = 0.1;

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(35, 1, 0.001, 1000);
  readonly keys = new Keys();
  readonly meshes: Mesh[] = [];
  skins: PoseSkin[] = [];
  posing = new Posing(this.scene, [], [], () => this.notify());
  private shownView: View = "skin";
  private readonly tools = new Map<Tool, Panel>();
  private readonly ghost = new MeshBasicMaterial({
    color: 0xe4572e,
    wireframe: true,
    transparent: true,
    opacity: 0.35,
  });
  private readonly sun = new DirectionalLight(0xffffff, 2.2);

  constructor(
    canvas: HTMLCanvasElement,
    private readonly side: HTMLElement,
  ) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.scene.add(new HemisphereLight(0xffffff, 0x777788, 1.6), this.sun);
    this.resize();
  }

  /** Show the skin of a GLB file. */
  async load(file: ArrayBuffer): Promise<void> {
    const gltf = await new GLTFLoader().register(posespace).parseAsync(file, "");
    this.skins = gltf.userData.posespace as PoseSkin[];
    this.scene.add(gltf.scene);
    gltf.scene.traverse((object) => {
      if ((object as Mesh).isMesh) this.meshes.push(object as Mesh);
    });
    for (const mesh of this.meshes) mesh.frustumCulled = false;
    this.posing = new Posing(gltf.scene, gltf.animations, this.skins, () => this.notify());
  }

  /** Add a tool; its elements come below those of the tools before. */
  add(tool: Tool): void {
    const panel = new Panel(this.side, this.keys);
    this.tools.set(tool, panel);
    tool.mount(this, panel);
    this.notify();
  }

  /** Take a tool away. */
  remove(tool: Tool): void {
    tool.dispose?.();
    this.tools.get(tool)?.dispose();
    this.tools.delete(tool);
    this.notify();
  }

  /** Tell all tools that something they share has changed. */
  notify(): void {
    for (const tool of this.tools.keys()) tool.changed?.();
  }

  /** How the skin is compared with plain skinning. */
  get view(): View {
    return this.shownView;
  }

  set view(view: View) {
    this.shownView = view;
    this.notify();
  }

  set background(colour: string) {
    this.scene.background = new Color(colour);
  }

  get materials(): MeshStandardMaterial[] {
    return this.meshes.flatMap((mesh) => mesh.material as MeshStandardMaterial | MeshStandardMaterial[]);
  }

  /** Fit the picture to the size of its canvas. */
  resize(): void {
    const { clientWidth, clientHeight } = this.renderer.domElement;
    this.camera.aspect = clientWidth / Math.max(1, clientHeight);
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(clientWidth, clientHeight, false);
  }

  /** Draw frame after frame; `drawn` is called after each. */
  start(drawn: () => void): void {
    let last = performance.now();
    this.renderer.setAnimationLoop((now: number) => {
      const seconds = Math.min(LONGEST_FRAME, (now - last) / 1000);
      last = now;
      for (const tool of this.tools.keys()) tool.update?.({ seconds });
      this.draw();
      drawn();
    });
  }

  /** Draw a picture. */
  draw(): void {
    this.sun.position.copy(this.camera.position).add(new Vector3(0, 1, 0));
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    if (this.view === "split") {
      this.renderer.setScissorTest(true);
      this.drawHalf(0, width / 2, height, false);
      this.drawHalf(width / 2, width - width / 2, height, true);
      this.renderer.setScissorTest(false);
      return;
    }
    this.show(this.view !== "plain");
    this.renderer.render(this.scene, this.camera);
    if (this.view === "overlay") this.drawGhost();
  }

  private drawHalf(left: number, width: number, height: number, corrected: boolean): void {
    this.show(corrected);
    this.renderer.setScissor(left, 0, width, height);
    this.renderer.render(this.scene, this.camera);
  }

  /** Draw all triangles' edges over the picture. */
  private drawGhost(): void {
    const { background } = this.scene;
    this.scene.overrideMaterial = this.ghost;
    this.scene.background = null;
    this.renderer.autoClear = false;
    this.renderer.render(this.scene, this.camera);
    this.renderer.autoClear = true;
    this.scene.background = background;
    this.scene.overrideMaterial = null;
  }

  private show(corrected: boolean): void {
    for (const skin of this.skins) skin.enabled = corrected;
    for (const tool of this.tools.keys()) tool.beforeDraw?.(corrected);
  }
}
