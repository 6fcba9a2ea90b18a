/** What version 2 of the extension adds, read and checked: a skin whose surface is posed on the processor. */

import { Accessors } from "../accessors.js";
import { Bounds } from "../bound.js";
import { BoundCost } from "../bound_cost.js";
import { EXTENSION } from "../description.js";
import type { Description } from "../description.js";
import { Fields } from "../fields.js";
import type { GltfFile, GltfJson } from "../gltf_file.js";
import type { Geometry } from "../vectors.js";
import { readBones } from "./bone_source.js";
import { LayerTable } from "./layers.js";
import { SurfaceNormals } from "./normals.js";
import type { PosedSkin } from "./posed_skin.js";
import { readDetail } from "./read_detail.js";
import { shadingOf } from "./shading.js";
import { readSkinMesh } from "./skin_mesh.js";
import type { DrivenMesh, SkinMesh } from "./skin_mesh.js";
import { readSkinTargets } from "./skin_targets.js";

/** Most vertices of a skin. */
const MOST_VERTICES = 2 ** 20;

/** Read what a file says beside its drivers; null where its surface need not be posed on the processor. */
export async function readPosed(json: unknown, file: GltfFile, description: Description): Promise<PosedSkin | null> {
  const fields = new Fields(json, EXTENSION);
  if (fields.number("version") < 2 || !(fields.has("bones") || fields.has("detail"))) return null;
  const vertices = fields.whole("vertices", 1, MOST_VERTICES);
  const accessors = new Accessors(file);
  const source = await readBones(fields, file, accessors, description, vertices);
  const meshes = drivenMeshes(file.json);
  const mesh = await readSkinMesh(file, description, meshes, vertices, source.bones);
  const shading = shadingOf(mesh.rest, mesh.triangles);
  fillNormals(mesh, new SurfaceNormals(mesh.triangles, shading));
  const found = await readSkinTargets(file, description, meshes, mesh);
  new BoundCost().add(description, found.targets, [found.data], vertices + mesh.triangles.length);
  const geometry = geometryOf(mesh);
  const bound = source.bind(mesh, geometry);
  const detail = fields.has("detail")
    ? await readDetail(fields.part("detail"), accessors, description, mesh, bound.detailAmounts)
    : null;
  return {
    ...bound,
    description,
    bounds: new Bounds(description, [{ geometry, targets: found.targets, data: found.data }]),
    mesh,
    layers: found.targets.length ? new LayerTable(found, vertices) : null,
    detail,
    shading,
  };
}

/** The meshes of a file that its skin moves: those that its extension speaks of, or that have joints. */
export function drivenMeshes({ meshes = [], nodes = [] }: GltfJson): DrivenMesh[] {
  const skinned = new Set(nodes.filter(({ skin }) => skin !== undefined).map(({ mesh }) => mesh));
  const driven = [...meshes.keys()].filter((k) => skinned.has(k) || meshes[k].extensions?.[EXTENSION] !== undefined);
  return driven.map((number) => {
    const json = meshes[number];
    const fields = new Fields(json.extensions?.[EXTENSION] ?? {}, `${EXTENSION} of mesh ${number}`);
    const count = json.primitives.length;
    const listed = fields.has("vertices") ? fields.wholes("vertices", 0, 2 ** 31 - 1, count) : Array(count).fill(-1);
    return { number, json, vertices: [...listed] };
  });
}

/** Vertices without normals get those of the surface at rest. */
function fillNormals({ rest, normals }: SkinMesh, surface: SurfaceNormals): void {
  const isMissing = (at: number) => !(normals[at] || normals[at + 1] || normals[at + 2]);
  const missing = Array.from({ length: rest.length / 3 }, (_, vertex) => 3 * vertex).filter(isMissing);
  if (!missing.length) return;
  const computed = new Float32Array(rest.length);
  surface.write(Float32Array.from(rest), computed);
  for (const at of missing) normals.set(computed.subarray(at, at + 3), at);
}

function geometryOf({ vertices, rest, triangles }: SkinMesh): Geometry {
  return {
    positions: {
      count: vertices,
      getX: (k) => rest[3 * k],
      getY: (k) => rest[3 * k + 1],
      getZ: (k) => rest[3 * k + 2],
    },
    indices: { count: triangles.length, getX: (k) => triangles[k] },
  };
}
