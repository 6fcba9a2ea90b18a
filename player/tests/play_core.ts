/** For tests: plays a skin by `core` alone, without three.js: a GLB file and poses in, what `core` makes of them out. */

import { Bounds } from "../core/bound.js";
import { EXTENSION, readTargetList } from "../core/description.js";
import { Drive } from "../core/drive.js";
import { displace, pack, slotsOf, weigh } from "../core/entries.js";
import { Skeleton } from "../core/features.js";
import { PosedSurface } from "../core/posed/posed_surface.js";
import type { Shown } from "../core/posed/posed_surface.js";
import { readPosed } from "../core/posed/read_posed.js";
import { readTargets } from "../core/targets.js";
import { Glb } from "./glb.js";
import type { PoseJson } from "./poses.js";
import { describe, Puppet } from "./puppet.js";

/** A pose, and what is shown of it. */
type ShownPose = PoseJson & { beta?: number; shown?: Partial<Shown> };

/** Coordinates of all drivers, and displacements of all vertices of the first mesh, at each pose. */
export async function play(file: ArrayBuffer, poses: PoseJson[]) {
  const glb = new Glb(file);
  const description = describe(glb);
  const [mesh] = glb.json.meshes ?? [];
  const [{ attributes, indices = 0, targets: accessors = [] }] = mesh.primitives;
  const targets = readTargetList(mesh.extensions?.[EXTENSION], description, [accessors.length]);
  const data = await readTargets(glb, accessors, attributes.POSITION);
  const positions = glb.table(attributes.POSITION);
  const bounds = new Bounds(description, [{ geometry: { positions, indices: glb.table(indices) }, targets, data }]);
  const puppet = new Puppet(glb, description);
  const skeleton = new Skeleton(description, puppet.bones);
  const drive = new Drive(description);
  const slots = slotsOf(targets);
  const entries = pack(targets, slots, data, positions.count);
  const weights = new Float32Array(2 * slots.count);
  return poses.map((pose) => {
    puppet.strike(pose, skeleton.features);
    skeleton.update();
    drive.update(skeleton.features);
    bounds.keep(drive.coordinates);
    weigh(slots, (target) => drive.coordinates[targets[target].coordinate] ?? 0, weights);
    const displacements = Array.from({ length: positions.count }, (_, vertex) => {
      const offset = new Float64Array(3);
      displace(entries, vertex, weights, offset);
      return [...offset];
    });
    return { coordinates: [...drive.coordinates], displacements };
  });
}

/** Points and normals of a skin that is posed on the processor, at each pose. */
export async function pose(file: ArrayBuffer, poses: ShownPose[]) {
  const glb = new Glb(file);
  const description = describe(glb);
  const skin = await readPosed(glb.json.extensions[EXTENSION], glb, description);
  if (!skin) throw new Error("expected a skin with learned bones or detail");
  const puppet = new Puppet(glb, description);
  const stage = skin.stageOf(puppet.bones);
  const drive = new Drive(description);
  const surface = new PosedSurface(skin, stage);
  const value = (target: number) => drive.coordinates[skin.layers?.targets[target].coordinate ?? -1] ?? 0;
  return poses.map((posed) => {
    puppet.strike(posed, stage.features);
    if (posed.beta !== undefined) stage.beta = posed.beta;
    const moved = stage.update();
    drive.update(stage.features);
    skin.bounds.keep(drive.coordinates);
    const shown = { enabled: true, corrections: true, detail: true, ...posed.shown };
    surface.update(moved, drive.coordinates, value, shown);
    return { points: [...surface.points], normals: [...surface.normals], transforms: [...stage.transforms] };
  });
}
