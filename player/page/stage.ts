/** The stage: the skinned meshes, what poses them, what is compared, and the tools of the page. */

import { Color, MathUtils, Matrix4, PerspectiveCamera, Scene, SRGBColorSpace, WebGLRenderer } from "three";
import type { Mesh, MeshStandardMaterial } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { posespace } from "../three/index.js";
import type { PoseSkin } from "../three/index.js";
import { Comparison } from "./comparison.js";
import type { Source } from "./comparison.js";
import type { Picture } from "./drag_motion.js";
import { Drags } from "./drags.js";
import { Drawing } from "./drawing.js";
import { exchange, haveSameBones } from "./exchange.js";
import { Ground } from "./ground.js";
import { JointEditing } from "./joint_editing.js";
import { Keys } from "./keys.js";
import { Looks } from "./looks.js";
import { Panel } from "./panel.js";
import { PointEditing } from "./point_editing.js";
import { Posing } from "./posing.js";
import { SurfacePick } from "./surface_pick.js";
import type { Tool } from "./tool.js";
import { VertexColours } from "./vertex_colours.js";

/** What may change the picture; frames are drawn for a while after it, so that what follows from it is seen too. */
const EVENTS = ["pointerdown", "pointermove", "pointerup", "wheel", "keydown", "click", "input", "change"] as const;
const FRAMES_AFTER = 10;

/** Degrees that the camera sees along the shorter side of the picture. */
const FIELD_OF_VIEW = 35;

/** The longest time between frames that a clip goes on by, in seconds: a hidden page draws none. */
const LONGEST_FRAME = 0.1;

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  /** What tools draw over the picture, such as bones; it is no part of a saved picture. */
  readonly overlay = new Scene();
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.001, 1000);
  readonly drags: Drags;
  readonly keys = new Keys(() => this.drags.active);
  readonly meshes: Mesh[] = [];
  skins: PoseSkin[] = [];
  posing = new Posing(this.scene, [], [], () => this.notify());
  points = new PointEditing(null, this.posing, () => this.notify());
  joints = new JointEditing(null, new Set(), this.posing, () => this.notify());
  /** Where the pointer is on the skin; null without one. */
  surface: SurfacePick | null = null;
  readonly comparison = new Comparison("plain", "skin", () => this.notify());
  looks = new Looks([]);
  /** Colours of the skin's vertices; null where no skin is loaded. */
  colours: VertexColours | null = null;
  /** What the skin stands on; null before one is loaded. */
  ground: Ground | null = null;
  /** What is in the scene now. */
  private source: Source | null = null;
  /** Frames that are drawn even if nothing is seen to move. */
  private frames = FRAMES_AFTER;
  private readonly drawnFrom = new Matrix4();
  private readonly tools = new Map<Tool, Panel>();
  private readonly drawing: Drawing;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly side: HTMLElement,
  ) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.drags = new Drags(canvas);
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.drawing = new Drawing(this.renderer, this.scene, this.camera);
    for (const kind of EVENTS) window.addEventListener(kind, () => this.wake(), { capture: true, passive: true });
    canvas.addEventListener("webglcontextrestored", () => this.wake());
    this.resize();
  }

  /** Draw the next frames: something may have changed. */
  wake(): void {
    this.frames = FRAMES_AFTER;
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
    this.comparison.add({ name: "skin", label: "the skin", show: () => this.enable(true) });
    this.comparison.add({ name: "plain", label: "plain skinning", show: () => this.enable(false) });
    this.looks = new Looks(this.materials);
    this.colours = this.skins.length ? new VertexColours(this.skins[0], this.looks) : null;
    this.ground = new Ground(this.scene, this.meshes);
    this.posing = new Posing(gltf.scene, gltf.animations, this.skins, () => this.notify());
    const skin = this.skins[0] ?? null;
    this.points = new PointEditing(skin, this.posing, () => this.notify());
    gltf.scene.updateMatrixWorld(true);
    this.surface = skin && new SurfacePick(skin, skin.meshes);
    this.joints = new JointEditing(skin, this.surface?.joints ?? new Set(), this.posing, () => this.notify());
  }

  /** Show the skin of another GLB file of the same rig, in the same pose; returns whether it is of that rig. */
  async exchange(file: ArrayBuffer): Promise<boolean> {
    const gltf = await new GLTFLoader().register(posespace).parseAsync(file, "");
    const [loaded] = gltf.userData.posespace as PoseSkin[];
    if (!haveSameBones(this.skins[0], loaded)) {
      loaded.dispose();
      return false;
    }
    const skin = exchange(this.skins[0], loaded);
    this.skins[0] = skin;
    this.meshes.splice(0, this.meshes.length, ...skin.meshes);
    this.points.exchange(skin);
    this.surface = new SurfacePick(skin, skin.meshes);
    this.looks.exchange(this.materials);
    this.colours?.exchange(skin);
    this.ground?.exchange(this.meshes);
    this.notify();
    return true;
  }

  /** Add a tool; its elements come below those of the tools before, on the side panel or another one. */
  add(tool: Tool, side: HTMLElement = this.side): void {
    const view = this.renderer.domElement.parentElement ?? document.body;
    const panel = new Panel(side, view, this.keys);
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
    this.wake();
    for (const tool of this.tools.keys()) tool.changed?.();
  }

  set background(colour: string) {
    this.scene.background = new Color(colour);
    this.wake();
  }

  /** What the canvas shows. */
  get picture(): Picture {
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    return { camera: this.camera, width, height };
  }

  get materials(): MeshStandardMaterial[] {
    return this.meshes.flatMap((mesh) => mesh.material as MeshStandardMaterial | MeshStandardMaterial[]);
  }

  /** Fit the picture to the size of its canvas. */
  resize(): void {
    const { clientWidth, clientHeight } = this.renderer.domElement;
    this.camera.aspect = clientWidth / Math.max(1, clientHeight);
    // The angle is that of the shorter side, so that a narrower window cuts nothing off.
    const half = Math.tan(MathUtils.degToRad(FIELD_OF_VIEW / 2)) / Math.min(1, this.camera.aspect);
    this.camera.fov = 2 * MathUtils.radToDeg(Math.atan(half));
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.wake();
  }

  /** Draw frame after frame as long as something moves; `drawn` is called after each. */
  start(drawn: () => void): void {
    let last = performance.now();
    this.renderer.setAnimationLoop((now: number) => {
      const seconds = Math.min(LONGEST_FRAME, (now - last) / 1000);
      last = now;
      for (const tool of this.tools.keys()) tool.update?.({ seconds });
      if (!this.isMoving()) return;
      this.draw();
      for (const tool of this.tools.keys()) tool.afterDraw?.();
      this.drawOverlay();
      drawn();
    });
  }

  /** Whether the next picture may be another one. */
  private isMoving(): boolean {
    this.camera.updateMatrixWorld();
    const { matrixWorld } = this.camera;
    if (this.posing.moving || !matrixWorld.equals(this.drawnFrom)) this.frames = Math.max(1, this.frames);
    this.drawnFrom.copy(matrixWorld);
    return this.frames-- > 0;
  }

  /** Draw a picture. */
  draw(): void {
    this.drawing.draw(this.comparison, this.ground, (source) => this.show(source));
  }

  /** Bring a source into the scene, in the place of another. */
  show(source: Source): void {
    if (this.source !== source) this.source?.hide?.();
    this.source = source;
    source.show();
    for (const tool of this.tools.keys()) tool.beforeDraw?.(source);
  }

  private drawOverlay(): void {
    if (!this.overlay.children.length) return;
    this.renderer.autoClear = false;
    this.renderer.clearDepth();
    this.renderer.render(this.overlay, this.camera);
    this.renderer.autoClear = true;
  }

  private enable(corrected: boolean): void {
    for (const skin of this.skins) skin.enabled = corrected;
  }
}
