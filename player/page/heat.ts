/** Errors as colours: how far each vertex is from the truth at a pose whose truth is known. */

import { Float32BufferAttribute } from "three";
import type { BufferAttribute } from "three";

import { bytesOf } from "./data.js";
import type { PageData } from "./data.js";
import type { Stage } from "./stage.js";

/** Colours from no error to the largest, light enough for shading to show. */
const STOPS = [
  [0.16, 0.3, 0.62],
  [0.28, 0.66, 0.78],
  [0.95, 0.92, 0.6],
  [0.95, 0.55, 0.24],
  [0.75, 0.12, 0.15],
];

/** An error over that of plain skinning above which a pose counts as worse. */
const WORSE = 1.001;

/** Whether an error over that of plain skinning says that plain skinning is closer to the truth. */
export function isWorse(ratio: number | undefined): boolean {
  return (ratio ?? 0) > WORSE;
}

export class Heat {
  private readonly skin: Uint8Array;
  private readonly plain: Uint8Array;
  private readonly vertices: number;
  private worn: { skin: BufferAttribute[]; plain: BufferAttribute[] } | null = null;
  private readonly usual: { map: unknown; colour: number; vertexColors: boolean }[];

  constructor(
    private readonly stage: Stage,
    private readonly data: NonNullable<PageData["heat"]>,
  ) {
    this.skin = bytesOf(data.skin);
    this.plain = bytesOf(data.plain);
    this.vertices = stage.meshes.reduce((sum, mesh) => sum + mesh.geometry.getAttribute("position").count, 0);
    this.usual = stage.materials.map(({ map, color, vertexColors }) => ({ map, colour: color.getHex(), vertexColors }));
    stage.wear = (corrected) => this.wear(corrected);
  }

  /** What the colours say, and where plain skinning is closer to the truth at a pose, that it is. */
  legend(pose: number): string {
    const scale = `blue 0 to red ${Number(this.data.largest.toPrecision(2))} ${this.data.unit}`;
    const ratio = this.data.ratios[pose] ?? 0;
    return isWorse(ratio) ? `${scale}; worse than plain skinning here: ${ratio.toPrecision(3)} times its error` : scale;
  }

  /** Show the errors of a pose, or of none (-1): of the skin, and of plain skinning where that is drawn. */
  show(pose: number): void {
    const on = pose >= 0;
    this.stage.materials.forEach((material, k) => {
      material.vertexColors = on || this.usual[k].vertexColors;
      material.map = on ? null : (this.usual[k].map as typeof material.map);
      material.color.setHex(on ? 0xffffff : this.usual[k].colour);
      material.needsUpdate = true;
    });
    this.worn = on ? { skin: this.colours(this.skin, pose), plain: this.colours(this.plain, pose) } : null;
  }

  private wear(corrected: boolean): void {
    const colours = corrected ? this.worn?.skin : this.worn?.plain;
    colours?.forEach((own, k) => this.stage.meshes[k].geometry.setAttribute("color", own));
  }

  /** The colours of each mesh at a pose. */
  private colours(all: Uint8Array, pose: number): BufferAttribute[] {
    let start = pose * this.vertices;
    return this.stage.meshes.map((mesh) => {
      const count = mesh.geometry.getAttribute("position").count;
      const colours = new Float32Array(3 * count);
      all.subarray(start, start + count).forEach((error, vertex) => colours.set(colourOf(error / 255), 3 * vertex));
      start += count;
      return new Float32BufferAttribute(colours, 3);
    });
  }
}

function colourOf(part: number): number[] {
  const place = part * (STOPS.length - 1);
  const k = Math.min(STOPS.length - 2, Math.floor(place));
  return STOPS[k].map((low, i) => low + (place - k) * (STOPS[k + 1][i] - low));
}
