/** What of a brush's vertices hangs together with where the pointer is: the next finger is near, and stays as it is. */

import type { Topology } from "./topology.js";

/** Those of some first vertices (K,) that can be reached from seeds along edges between them. */
export function connected({ beside }: Topology, vertices: Uint32Array, seeds: readonly number[]): Uint32Array {
  const left = new Set(vertices);
  const reached: number[] = [];
  const visit = (vertex: number) => {
    if (left.delete(vertex)) reached.push(vertex);
  };
  seeds.forEach(visit);
  for (let k = 0; k < reached.length; k++) beside.row(reached[k]).forEach(visit);
  return Uint32Array.from(reached);
}
