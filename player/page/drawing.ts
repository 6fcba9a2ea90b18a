/** Draws a picture: the sources of a comparison, cut at its divider, or one with the edges of the other over it. */

import type { PerspectiveCamera, Scene, WebGLRenderer } from "three";

import type { Comparison, Source } from "./comparison.js";
import { drawEdges } from "./edges.js";
import type { Ground } from "./ground.js";
import { Lighting } from "./lighting.js";

/** The line between two sources, and its width in pixels. */
const [LINE, WIDTH] = ["#ffffff", 2];

export class Drawing {
  private readonly lighting: Lighting;

  constructor(
    private readonly renderer: WebGLRenderer,
    private readonly scene: Scene,
    private readonly camera: PerspectiveCamera,
  ) {
    this.lighting = new Lighting(scene);
  }

  /** Draw what is compared; `show` brings a source into the scene. */
  draw(comparison: Comparison, ground: Ground | null, show: (source: Source) => void): void {
    const { renderer, scene, camera } = this;
    const { mode, left, right } = comparison;
    this.camera.updateMatrixWorld();
    this.lighting.follow(camera);
    show(comparison.at(0));
    scene.updateMatrixWorld();
    // The ground and the first source see the scene as it is now: bringing it up to date poses the skin.
    scene.matrixWorldAutoUpdate = false;
    ground?.update(renderer, camera, this.lighting.toKey);
    if (mode === "split") this.cutLeft(comparison.divider);
    renderer.render(scene, camera);
    scene.matrixWorldAutoUpdate = true;
    if (mode === "split") this.drawRight(comparison, show);
    if (mode !== "overlay") return;
    show(left);
    drawEdges(renderer, scene, camera);
    show(right);
  }

  /** Draw no farther than to the divider. */
  private cutLeft(divider: number): void {
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    this.renderer.setScissorTest(true);
    this.renderer.setScissor(0, 0, Math.round(divider * width), height);
  }

  /** Draw what is on the right of the divider, and the line there. */
  private drawRight({ right, divider }: Comparison, show: (source: Source) => void): void {
    const { renderer, scene, camera } = this;
    const { clientWidth: width, clientHeight: height } = renderer.domElement;
    const cut = Math.round(divider * width);
    show(right);
    renderer.setScissor(cut, 0, width - cut, height);
    renderer.render(scene, camera);
    renderer.setScissor(cut - WIDTH / 2, 0, WIDTH, height);
    renderer.setClearColor(LINE);
    renderer.clear();
    renderer.setScissorTest(false);
  }
}
