/** Numbers of a skin's vertices as colours on its meshes, in place of those of its file: one tool's at a time. */

import { Color, Float32BufferAttribute, SRGBColorSpace } from "three";
import type { BufferAttribute, InterleavedBufferAttribute } from "three";

import type { PoseSkin } from "../three/index.js";
import type { Looks } from "./looks.js";

type Attribute = BufferAttribute | InterleavedBufferAttribute;

/** Red, green and blue in sRGB, 0 to 1. */
export type Rgb = readonly [number, number, number];

export class VertexColours {
  /** The tool whose colours are shown. Another may take its place: `changed` of the first sees it. */
  owner: object | null = null;
  /** The colours that the file gives the vertices of each mesh, if any. */
  private own: (Attribute | undefined)[];
  /** What is shown. */
  private painted: BufferAttribute[] = [];

  constructor(
    private skin: PoseSkin,
    private readonly looks: Looks,
  ) {
    this.own = ownOf(skin);
  }

  /** Colour the meshes of another skin of the same rig, as those before are. */
  exchange(skin: PoseSkin): void {
    this.skin = skin;
    this.own = ownOf(skin);
    if (this.owner) this.paint(this.painted);
  }

  /** The colours of each mesh for numbers, one of each vertex of the skin. */
  of(numbers: Float64Array, colour: (number: number) => Rgb): BufferAttribute[] {
    const linear = new Color();
    return this.skin.spread(numbers).map((values) => {
      const colours = new Float32Array(3 * values.length);
      values.forEach((value, vertex) => {
        // Colours of vertices are in linear light.
        linear.setRGB(...colour(value), SRGBColorSpace).toArray(colours, 3 * vertex);
      });
      return new Float32BufferAttribute(colours, 3);
    });
  }

  /** Show colours for a tool, in place of another's. */
  show(owner: object, colours: BufferAttribute[]): void {
    this.owner = owner;
    this.painted = colours;
    this.paint(colours);
    this.looks.coloured = true;
  }

  /** End what a tool shows; what another shows stays. */
  hide(owner: object): void {
    if (this.owner !== owner) return;
    this.owner = null;
    this.paint(this.own);
    this.looks.coloured = false;
  }

  private paint(colours: (Attribute | undefined)[]): void {
    this.skin.meshes.forEach(({ geometry }, k) => {
      const colour = colours[k];
      if (colour) geometry.setAttribute("color", colour);
      else geometry.deleteAttribute("color");
    });
  }
}

function ownOf({ meshes }: PoseSkin): (Attribute | undefined)[] {
  return meshes.map(({ geometry }) => geometry.getAttribute("color"));
}
