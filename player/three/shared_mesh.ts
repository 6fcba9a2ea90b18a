/** What all copies of a mesh share: its targets, packed beside its geometry. */

import { IntType, Uint32BufferAttribute } from "three";
import type { BufferGeometry } from "three";

import type { Target } from "../core/description.js";
import { pack, slotsOf } from "../core/entries.js";
import type { Slots, TargetData } from "../core/entries.js";
import { PackedTexture } from "./textures.js";

export class SharedMesh {
  readonly slots: Slots;
  readonly packed: PackedTexture;

  constructor(
    readonly targets: Target[],
    /** Names and weights of the morph targets in the file, for clips that play them. */
    readonly names: string[],
    readonly shown: number[],
    geometry: BufferGeometry,
    data: TargetData[],
  ) {
    this.slots = slotsOf(targets);
    const entries = pack(targets, this.slots, data, geometry.getAttribute("position").count);
    const spans = new Uint32BufferAttribute(entries.spans, 2);
    // The shader reads whole numbers.
    spans.gpuType = IntType;
    geometry.setAttribute("poseSpan", spans);
    this.packed = new PackedTexture(entries);
  }
}
