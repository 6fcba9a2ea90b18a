/** The bone stage of control points: the nodes of a root and of the points below it move learned bones. */

import type { Description } from "../description.js";
import type { Features } from "../features.js";
import { World } from "../world.js";
import type { SceneNode } from "../world.js";
import type { LearnedBones } from "./learned_bones.js";
import type { BoneStage } from "./stage.js";

/** Positions beyond this are no pose. */
const LARGEST = 1e10;

export class PointStage implements BoneStage {
  readonly features: Features;
  readonly plainTransforms: Float64Array;
  private readonly world = new World();
  /** Of each joint, the root and the control points, its number in `world`. */
  private readonly numbers: number[];
  /** The positions (M, 3) of the control points, as last followed, and as they are now. */
  private readonly positions: Float64Array;
  private readonly next: Float64Array;
  private stale = true;

  /** Parameters: the nodes of the joints in their order, and the bones that they move. */
  constructor(
    private readonly description: Description,
    private readonly bones: LearnedBones,
    nodes: SceneNode[],
  ) {
    const { joints, controls } = description;
    this.features = {
      rotations: Float64Array.from(joints.flatMap(({ rest }) => [...rest])),
      translations: new Float64Array(3 * joints.length),
      controls: new Float64Array(controls.length),
    };
    this.numbers = nodes.map((node) => this.world.add(node));
    this.positions = bones.description.rest.slice();
    this.next = new Float64Array(this.positions.length);
    this.plainTransforms = new Float64Array(12 * joints.length);
  }

  get transforms(): Float64Array {
    return this.bones.transforms;
  }

  get amountCount(): number {
    return this.bones.amountCount;
  }

  get amounts(): Float64Array {
    return this.bones.amounts;
  }

  get changed(): Uint8Array {
    return this.bones.changed;
  }

  get beta(): number {
    return this.bones.beta;
  }

  set beta(beta: number) {
    this.stale ||= beta !== this.bones.beta;
    this.bones.beta = beta;
  }

  update(): boolean {
    const { positions, next } = this;
    this.world.update();
    for (let k = 0; k < next.length; k++) next[k] = this.matrix(1 + Math.floor(k / 3))[4 * (k % 3) + 3];
    // A pose that is none leaves the one before.
    if (!next.every((value) => Math.abs(value) <= LARGEST)) return false;
    if (!this.stale && next.every((value, k) => value === positions[k])) return false;
    positions.set(next);
    this.stale = false;
    this.bones.update(positions);
    this.writeFeatures();
    this.writePlain();
    return true;
  }

  private matrix(joint: number): Float64Array {
    return this.world.matrix(this.numbers[joint]);
  }

  /** Drivers know the axes and the unit of the skin. */
  private writeFeatures(): void {
    const { translations } = this.bones;
    const { unit, up } = this.description;
    const seen = this.features.translations;
    for (let k = 0; k < translations.length; k += 3) {
      const [x, y, z] = [translations[k] / unit, translations[k + 1] / unit, translations[k + 2] / unit];
      seen[k + 3] = x;
      seen[k + 4] = up === "z" ? -z : y;
      seen[k + 5] = up === "z" ? y : z;
    }
  }

  /** The joints' matrices, relative to those at rest: there each has the axes of what is above the root. */
  private writePlain(): void {
    const { plainTransforms, numbers } = this;
    const { rest } = this.bones.description;
    const above = this.world.matrix(this.world.parent(numbers[0]));
    const inverse = inverted(above);
    for (let joint = 0; joint < numbers.length; joint++) {
      const matrix = this.matrix(joint);
      for (let i = 0; i < 3; i++) {
        const row = 12 * joint + 4 * i;
        let position = matrix[4 * i + 3];
        for (let j = 0; j < 3; j++) {
          let value = 0;
          for (let k = 0; k < 3; k++) value += matrix[4 * i + k] * inverse[3 * k + j];
          plainTransforms[row + j] = value;
          position -= value * (joint ? rest[3 * (joint - 1) + j] : above[4 * j + 3]);
        }
        plainTransforms[row + 3] = position;
      }
    }
  }
}

/** The inverse of the first three columns of a matrix of 3 rows of 4: three rows of three. */
function inverted(m: Float64Array): number[] {
  const cofactors = [
    m[5] * m[10] - m[6] * m[9],
    m[2] * m[9] - m[1] * m[10],
    m[1] * m[6] - m[2] * m[5],
    m[6] * m[8] - m[4] * m[10],
    m[0] * m[10] - m[2] * m[8],
    m[2] * m[4] - m[0] * m[6],
    m[4] * m[9] - m[5] * m[8],
    m[1] * m[8] - m[0] * m[9],
    m[0] * m[5] - m[1] * m[4],
  ];
  const determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6];
  return cofactors.map((value) => value / (determinant || 1));
}
