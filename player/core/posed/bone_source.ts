/** Where the bones of a file come from: learned ones from its extension, or else the joints of its skeleton. */

import type { Accessors } from "../accessors.js";
import { bindingOf } from "../bones/binding.js";
import type { Binding } from "../bones/binding.js";
import { readInverseBind } from "../bones/inverse_bind.js";
import { JointStage } from "../bones/joint_stage.js";
import { LearnedBones } from "../bones/learned_bones.js";
import { readLearned } from "../bones/learned_description.js";
import type { LearnedDescription } from "../bones/learned_description.js";
import { PointStage } from "../bones/point_stage.js";
import type { BoneStage } from "../bones/stage.js";
import { BoneSystem } from "../bones/system.js";
import { limitsOf } from "../bound.js";
import { EXTENSION } from "../description.js";
import type { Description } from "../description.js";
import type { Fields } from "../fields.js";
import type { GltfFile } from "../gltf_file.js";
import { Surface } from "../surface.js";
import type { Geometry } from "../vectors.js";
import type { SceneNode } from "../world.js";
import { CorrectionTable } from "./corrections.js";
import { Edges } from "./edges.js";
import type { SkinMesh } from "./skin_mesh.js";

/** Most steps that preparing the bones may take: some seconds. */
const MOST_STEPS = 2 ** 31;

/** Bones, bound to the surface that they move. */
export interface BoundBones {
  /** The joints of each vertex in plain skinning. */
  plain: Binding;
  corrections: CorrectionTable | null;
  /** The vertices that control points are on. */
  points: Uint32Array;
  /** How many components of the detail the bones have amounts of. */
  detailAmounts: number;
  /** Return the bone stage of a copy whose joints are these nodes. */
  stageOf(nodes: SceneNode[]): BoneStage;
}

export interface BoneSource {
  /** How many bones there are. */
  bones: number;
  bind(mesh: SkinMesh, geometry: Geometry): BoundBones;
}

/** Read the bones of a file whose skin has so many vertices. */
export async function readBones(
  fields: Fields,
  file: GltfFile,
  accessors: Accessors,
  description: Description,
  vertices: number,
): Promise<BoneSource> {
  if (fields.has("bones")) {
    const learned = await readLearned(fields.part("bones"), accessors, description, vertices);
    return { bones: learned.bones, bind: (mesh, geometry) => bindLearned(learned, description, mesh, geometry) };
  }
  const inverseBind = await readInverseBind(file, description);
  const stageOf = (nodes: SceneNode[]) => new JointStage(description, inverseBind, nodes);
  const bind = ({ binding }: SkinMesh) => {
    return { plain: binding, corrections: null, points: new Uint32Array(0), detailAmounts: 0, stageOf };
  };
  return { bones: description.joints.length, bind };
}

function bindLearned(
  learned: LearnedDescription,
  description: Description,
  mesh: SkinMesh,
  geometry: Geometry,
): BoundBones {
  checkSteps(learned, mesh);
  const edges = new Edges(mesh.triangles, mesh.vertices);
  const system = new BoneSystem(learned.centres, mesh.binding, mesh.rest, edges, learned.points, learned.ties);
  const positions = system.factored(learned.beta);
  const bones = () => new LearnedBones(learned, system, positions);
  const all = Uint32Array.from({ length: mesh.vertices }, (_, vertex) => vertex);
  const limits = (largest: Float64Array) => limitsOf(new Surface([geometry]), largest, all);
  const count = learned.corrections?.count ?? 0;
  return {
    plain: bindingOf(learned.plainInfluences, learned.plainWeights, learned.plainCount),
    corrections: learned.corrections && new CorrectionTable(learned.corrections, mesh.binding, bones(), limits),
    points: learned.points,
    detailAmounts: learned.values - 4 - count,
    stageOf: (nodes) => new PointStage(description, bones(), nodes),
  };
}

/** Throws where preparing the bones would take too long: a short file could keep a player busy for ever. */
function checkSteps(learned: LearnedDescription, { triangles, binding }: SkinMesh): void {
  const { sampleCount, near, bones, blended, values, corrections, ties } = learned;
  const { starts } = binding;
  const entries = binding.weights.length;
  // The triangles may all be at the one vertex with the most bones.
  const most = starts.reduce((least, start, k) => Math.max(least, k ? start - starts[k - 1] : 0), 0);
  const perSample = 3 * sampleCount * near.length + bones * blended * sampleCount * values;
  const corrected = sampleCount * (corrections?.count ?? 0) * (entries + 3 * binding.starts.length);
  const steps = (triangles.length + ties.length) * (2 * most) ** 2 + sampleCount * perSample + corrected;
  if (steps > MOST_STEPS) throw new Error(`${EXTENSION}: bones: expected at most ${MOST_STEPS} steps, got ${steps}`);
}
