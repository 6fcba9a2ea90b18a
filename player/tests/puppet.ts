/** For tests and benchmarks: the joints of a file as plain nodes, and what puts them into poses. */

import { EXTENSION, numbersView, readDescription } from "../core/description.js";
import type { Description } from "../core/description.js";
import type { Features } from "../core/features.js";
import type { SceneNode } from "../core/world.js";
import { nodesOf } from "./glb.js";
import type { Glb } from "./glb.js";
import type { PoseJson } from "./poses.js";

/** What the extension of a file says of its drivers. */
export function describe(glb: Glb): Description {
  const { nodes, bufferViews, extensions } = glb.json;
  const view = numbersView(extensions[EXTENSION], bufferViews.length);
  return readDescription(extensions[EXTENSION], glb.view(view), nodes.length);
}

/** The nodes of a file's joints, and what puts them into poses. */
export class Puppet {
  readonly bones: SceneNode[];
  private readonly rests: SceneNode["position"][];

  constructor(
    glb: Glb,
    private readonly description: Description,
  ) {
    const nodes = nodesOf(glb.json.nodes);
    this.bones = description.joints.map(({ node }) => nodes[node]);
    this.rests = this.bones.map(({ position }) => ({ ...position }));
  }

  strike({ joints, controls }: PoseJson, features: Features): void {
    this.bones.forEach((bone, k) => {
      const [x, y, z, w] = joints.slice(4 * k, 4 * k + 4);
      const [dx, dy, dz] = joints.slice(4 * this.bones.length + 3 * k, 4 * this.bones.length + 3 * k + 3);
      bone.quaternion = { x, y, z, w };
      bone.position = { x: this.rests[k].x + dx, y: this.rests[k].y + dy, z: this.rests[k].z + dz };
    });
    this.description.controls.forEach((name, k) => {
      features.controls[k] = controls[name] ?? 0;
    });
  }
}
