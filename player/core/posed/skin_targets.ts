/** The morph targets of a skin's meshes, on the vertices of the skin. */

import { EXTENSION, readTargetList } from "../description.js";
import type { Description, Target } from "../description.js";
import type { TargetData } from "../entries.js";
import type { GltfFile } from "../gltf_file.js";
import { readTargets } from "../targets.js";
import type { DrivenMesh, SkinMesh } from "./skin_mesh.js";
import type { VertexSet } from "./vertex_set.js";

export interface SkinTargets {
  targets: Target[];
  /** Of each target, what it moves, in metres. */
  data: TargetData[];
  /** Of each target, the mesh that has it, and its number there. */
  sources: { mesh: number; target: number }[];
}

/** Read the targets of meshes; each mesh has its own, even where they are of one component. */
export async function readSkinTargets(
  file: GltfFile,
  description: Description,
  meshes: DrivenMesh[],
  { sets }: SkinMesh,
): Promise<SkinTargets> {
  const all: SkinTargets = { targets: [], data: [], sources: [] };
  for (const { number, json } of meshes) {
    const extension = json.extensions?.[EXTENSION] ?? {};
    const counts = json.primitives.map(({ targets }) => targets?.length ?? 0);
    const targets = readTargetList(extension, description, counts);
    const parts: TargetData[][] = [];
    for (const set of sets.filter(({ primitives }) => primitives[0].mesh === number)) {
      const { attributes, targets: accessors } = json.primitives[set.primitives[0].primitive];
      const data = await readTargets(file, accessors ?? [], attributes.POSITION);
      parts.push(data.map((target) => onSkin(target, set, description.grid)));
    }
    targets.forEach((target, k) => {
      if (target.kind === "fallback" || target.kind === "offset") return;
      all.targets.push({ ...target, step: target.step * description.grid });
      all.data.push(joined(parts.map((part) => part[k])));
      all.sources.push({ mesh: number, target: k });
    });
  }
  return all;
}

/** What a target moves, as vertices of the skin, each once. */
function onSkin({ vertices, points, normals }: TargetData, set: VertexSet, grid: number): TargetData {
  const kept = new Uint8Array(set.count);
  for (const row of set.firsts) kept[row] = 1;
  const rows = [...vertices.keys()].filter((row) => kept[vertices[row]]);
  const taken = (values: Float32Array, scale: number) =>
    Float32Array.from(
      rows.flatMap((row) => [values[3 * row], values[3 * row + 1], values[3 * row + 2]]),
      (value) => scale * value,
    );
  return {
    vertices: Uint32Array.from(rows, (row) => set.vertices?.[vertices[row]] ?? vertices[row]),
    points: points && taken(points, grid),
    normals: normals && taken(normals, 1),
  };
}

function joined(parts: TargetData[]): TargetData {
  if (parts.length === 1) return parts[0];
  const all = (name: "points" | "normals") => {
    if (parts.every((part) => part[name] === null)) return null;
    return Float32Array.from(parts.flatMap((part) => [...(part[name] ?? new Float32Array(3 * part.vertices.length))]));
  };
  const vertices = Uint32Array.from(parts.flatMap((part) => [...part.vertices]));
  return { vertices, points: all("points"), normals: all("normals") };
}
