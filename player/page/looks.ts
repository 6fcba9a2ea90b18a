/** How the surface looks: by the file's own materials, as clay, which shows its form, or in colours of its vertices. */

import { Color } from "three";
import type { MeshStandardMaterial } from "three";

/** What is the same in clay and in colours: nothing but the form and the light. */
const BARE = {
  map: null,
  alphaMap: null,
  normalMap: null,
  bumpMap: null,
  roughnessMap: null,
  metalnessMap: null,
  aoMap: null,
  emissiveMap: null,
  roughness: 0.72,
  metalness: 0,
} as const;

const CLAY = new Color("#cdc7be");
const WHITE = new Color("#ffffff");

type Values = Record<string, unknown>;

/** A material, and what the file made it. */
interface Look {
  material: MeshStandardMaterial & Values;
  own: Values;
  colour: Color;
  emissive: Color | undefined;
}

export class Looks {
  private readonly all: Look[];
  private isClay = false;
  private isColoured = false;

  constructor(materials: MeshStandardMaterial[]) {
    this.all = [...new Set(materials)].map((given) => {
      const material = given as MeshStandardMaterial & Values;
      const own: Values = { vertexColors: material.vertexColors };
      // Materials of other kinds lack some of them.
      for (const name of Object.keys(BARE)) if (name in material) own[name] = material[name];
      return { material, own, colour: material.color.clone(), emissive: material.emissive?.clone() };
    });
  }

  /** Whether the surface is of one neutral material. */
  get clay(): boolean {
    return this.isClay;
  }

  set clay(on: boolean) {
    this.isClay = on;
    this.apply();
  }

  /** Whether it has the colours of its vertices instead; they go before clay. */
  get coloured(): boolean {
    return this.isColoured;
  }

  set coloured(on: boolean) {
    if (on === this.isColoured) return;
    this.isColoured = on;
    this.apply();
  }

  private apply(): void {
    const isBare = this.isClay || this.isColoured;
    for (const { material, own, colour, emissive } of this.all) {
      for (const name of Object.keys(own)) material[name] = isBare ? (BARE as Values)[name] : own[name];
      material.vertexColors = isBare ? this.isColoured : (own.vertexColors as boolean);
      material.color.copy(isBare ? (this.isColoured ? WHITE : CLAY) : colour);
      if (emissive) material.emissive.copy(isBare ? new Color(0) : emissive);
      material.needsUpdate = true;
    }
  }
}
