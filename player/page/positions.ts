/** Where the vertices of a mesh are, as it is posed now. */

import { Vector3 } from "three";
import type { Mesh } from "three";

/** Positions of the vertices of a mesh in the world; of at most so many, evenly spread over its list. */
export function positionsOf(mesh: Mesh, most = Infinity): Vector3[] {
  const { count } = mesh.geometry.getAttribute("position");
  const step = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / step) }, (_, k) =>
    mesh.localToWorld(mesh.getVertexPosition(step * k, new Vector3())),
  );
}
