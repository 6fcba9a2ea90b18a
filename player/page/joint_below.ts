/** Which joint is below a pixel of the picture: that of a bone that is drawn there, else of the skin. */

import { Raycaster, Vector2, Vector3 } from "three";
import type { Ray } from "three";

import { distanceToLine, endsOf } from "./bone_segments.js";
import type { Picture } from "./drag_motion.js";
import type { Pixel } from "./drags.js";
import type { Stage } from "./stage.js";

/** How near to a bone a pointer is on it, in pixels. */
const NEAR = 7;

export interface Below {
  joint: number;
  /** The place on the skin, or on the bone, in the world. */
  position: Vector3;
}

/** What is below a pixel; null: neither bone nor skin. */
export function jointBelow(stage: Stage, pixel: Pixel): Below | null {
  return (stage.joints.allShown && boneBelow(stage, pixel)) || skinBelow(stage, pixel);
}

/** The ray from the camera through a pixel. */
export function rayThrough({ camera, width, height }: Picture, { x, y }: Pixel): Ray {
  const caster = new Raycaster();
  caster.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
  return caster.ray;
}

function skinBelow({ surface, joints, picture }: Stage, pixel: Pixel): Below | null {
  const hit = surface?.at(rayThrough(picture, pixel));
  if (!surface || !hit) return null;
  const { position } = hit;
  const joint = surface.jointAt(hit);
  if (joint >= 0) return { joint, position };
  // A surface that is posed on the processor has no weights: its nearest bone counts.
  const distances = joints.segments.map((segment) => distanceToLine(position, ...endsOf(segment, joints.bones)));
  const nearest = joints.segments[distances.indexOf(Math.min(...distances))];
  return nearest ? { joint: nearest.joint, position } : null;
}

function boneBelow({ joints, picture }: Stage, { x, y }: Pixel): Below | null {
  const { camera, width, height } = picture;
  const pointer = new Vector3(x, y, 0);
  const flat = (position: Vector3) => {
    const seen = position.clone().project(camera);
    return new Vector3(((seen.x + 1) * width) / 2, ((1 - seen.y) * height) / 2, 0);
  };
  let [below, least] = [null as Below | null, NEAR];
  for (const segment of joints.segments) {
    const [start, end] = endsOf(segment, joints.bones);
    const [from, to] = [flat(start), flat(end)];
    const distance = distanceToLine(pointer, from, to);
    if (distance >= least) continue;
    least = distance;
    const share = from.distanceTo(to) && Math.min(1, pointer.distanceTo(from) / from.distanceTo(to));
    below = { joint: segment.joint, position: start.lerp(end, share) };
  }
  return below;
}
