/**
 * The bound on corrections: at no pose is a displacement more than 1.5 times what its neighbourhood has at the samples.
 * A driver's coordinates are scaled, all by one factor, so far that this holds at every vertex that it moves.
 */

import type { Description, Target } from "./description.js";
import { Drive } from "./drive.js";
import type { TargetData } from "./entries.js";
import { LayerBound } from "./layer_bound.js";
import type { Component } from "./layer_bound.js";
import { Surface } from "./surface.js";
import type { Geometry } from "./vectors.js";

/**
 * Most that a displacement may be, over the largest one in its neighbourhood at any sample of the driver: a little below
 * 1.5, so that corrections stored in few bits keep the rule too.
 */
const KEPT = 1.455;

/**
 * A neighbourhood counts as displaced by at least this fraction of the layer's largest displacement: what fades out at
 * the edge of a support must not hold back all of it.
 */
const FLOOR = 0.02;

/** Where there is nothing at all, nothing may be added; a tiny number spares a division by zero. */
const TINY = 2 ** -126;

/** How many of a driver's samples are looked at: up to 2,000 all of them, of more fewer, but at least 256. */
export function sampleCount(samples: number): number {
  return Math.min(samples, Math.max(256, Math.floor(4_000_000 / samples)));
}

/** A primitive of the file as it was loaded, and its targets. */
export interface Primitive {
  geometry: Geometry;
  targets: Target[];
  data: TargetData[];
}

/** The bounds of all drivers of a file. */
export class Bounds {
  /** Of each driver, the bounds of the layers that it moves. */
  private readonly layerBounds: LayerBound[][];

  constructor(
    private readonly description: Description,
    primitives: Primitive[],
  ) {
    const surface = new Surface(primitives.map(({ geometry }) => geometry));
    const drive = new Drive(description);
    const groups = componentsOf(description, primitives, surface.firsts);
    const limits = (largest: Float64Array, support: Uint32Array) => limitsOf(surface, largest, support);
    this.layerBounds = description.drivers.map(({ columns }, k) => {
      const samples = groups[k].length ? samplesOf(description, drive, k) : new Float64Array(0);
      return groups[k].map((components) => new LayerBound(components, surface.vertices, columns, samples, limits));
    });
  }

  /** Scale the coordinates of each driver so that they keep within its bound. */
  keep(coordinates: Float64Array): void {
    const { drivers, starts } = this.description;
    this.layerBounds.forEach((layers, k) => {
      let largest = 1;
      for (const layer of layers) largest = Math.max(largest, layer.ratio(coordinates, starts[k]));
      if (largest === 1) return;
      const end = starts[k] + drivers[k].columns;
      // Coordinates that are no numbers, of poses that are none, move nothing.
      if (!(largest < Infinity)) coordinates.fill(0, starts[k], end);
      else for (let c = starts[k]; c < end; c++) coordinates[c] /= largest;
    });
  }
}

/** The most that each vertex of a support may be displaced, from the largest displacements at samples. */
export function limitsOf(surface: Surface, largest: Float64Array, support: Uint32Array): Float64Array {
  const least = FLOOR * largest.reduce((most, length) => Math.max(most, length), 0);
  return surface.largest(largest, support).map((around) => KEPT * Math.max(around, least, TINY));
}

/** A driver's coordinates at its samples, one after the other; of many, at some that are spread evenly. */
function samplesOf({ drivers }: Description, drive: Drive, number: number): Float64Array {
  const { samples, columns } = drivers[number];
  const count = sampleCount(samples);
  const coordinates = new Float64Array(count * columns);
  for (let k = 0; k < count; k++) {
    const sample = count > 1 ? Math.round((k * (samples - 1)) / (count - 1)) : 0;
    coordinates.set(drive.atSample(number, sample), k * columns);
  }
  return coordinates;
}

/** Of each driver, the components of each layer that it moves; those of its normals are a layer of their own. */
function componentsOf({ drivers, starts }: Description, primitives: Primitive[], firsts: number[]): Component[][][] {
  const groups = drivers.map(() => new Map<string, Component[]>());
  const seen = new Set<TargetData[]>();
  primitives.forEach(({ targets, data }, k) => {
    // Primitives may share their vertices; once is enough.
    if (seen.has(data)) return;
    seen.add(data);
    targets.forEach(({ kind, driver, coordinate, layer, normals, scale }, t) => {
      const { vertices } = data[t];
      const values = normals ? data[t].normals : data[t].points;
      if (kind !== "component" || !values) return;
      const key = `${layer} ${normals}`;
      const components = groups[driver].get(key) ?? [];
      groups[driver].set(key, components);
      components.push({ column: coordinate - starts[driver], scale, first: firsts[k], vertices, values });
    });
  });
  return groups.map((layers) => [...layers.values()]);
}
