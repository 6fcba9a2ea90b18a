/** Learned bones: transforms of bones, and their amounts, from the positions of control points. */

import { checkBeta } from "./learned_description.js";
import type { LearnedDescription } from "./learned_description.js";
import { BoneModels } from "./models.js";
import { writeMatrix } from "./nearest_rotation.js";
import type { BonePositions } from "./positions.js";
import { RigidMotion } from "./rigid.js";
import type { BoneSystem } from "./system.js";

/** Amounts that differ by less are the same: where other points move, rounding alone changes what a bone sees. */
const SAME = 1e-8;

export class LearnedBones {
  /** The transform of each bone, rest to posed: 3 rows of 4. */
  readonly transforms: Float64Array;
  /** How many amounts each bone has, and these: of corrections, then of components of the detail. */
  readonly amountCount: number;
  readonly amounts: Float64Array;
  /** Of each bone, 1 where its amounts changed in the last update. */
  readonly changed: Uint8Array;
  /** The control points' translations from rest (M, 3), without the motion of the whole. */
  readonly translations: Float64Array;
  private readonly models: BoneModels;
  private readonly whole = new RigidMotion();
  private readonly aligned: Float64Array;
  private readonly rotations: Float64Array;
  private readonly moved: Float64Array;
  private weight: number;

  constructor(
    readonly description: LearnedDescription,
    private readonly system: BoneSystem,
    private positions: BonePositions,
  ) {
    const { bones, rest, beta } = description;
    this.models = new BoneModels(description);
    this.amountCount = this.models.amountCount;
    this.transforms = new Float64Array(12 * bones);
    this.amounts = new Float64Array(this.amountCount * bones);
    this.changed = new Uint8Array(bones);
    this.translations = new Float64Array(rest.length);
    this.aligned = new Float64Array(rest.length);
    this.rotations = new Float64Array(9 * bones);
    this.moved = new Float64Array(3 * bones);
    this.weight = beta;
  }

  /** The weight of the control points in the solve for positions. */
  get beta(): number {
    return this.weight;
  }

  set beta(beta: number) {
    checkBeta(beta);
    if (beta === this.weight) return;
    this.positions = this.system.factored(beta);
    this.weight = beta;
  }

  /** Write transforms and amounts for positions (M, 3) of the control points. */
  update(points: Float64Array): void {
    const { models, aligned, translations, rotations, moved } = this;
    const { rest, anchors, bones } = this.description;
    this.whole.find(rest, points, anchors);
    this.whole.remove(points, aligned);
    for (let k = 0; k < rest.length; k++) translations[k] = aligned[k] - rest[k];
    models.predict(aligned);
    for (let bone = 0; bone < bones; bone++) writeMatrix(models.quaternions, 4 * bone, rotations, 9 * bone);
    this.positions.solve(rotations, translations, moved);
    for (let bone = 0; bone < bones; bone++) this.writeTransform(bone);
    this.takeAmounts();
  }

  /** Write a bone's transform: its rotation about its centre, its translation, then the motion of the whole. */
  private writeTransform(bone: number): void {
    const { transforms, rotations, moved } = this;
    const { rotation: whole, translation } = this.whole;
    const { centres } = this.description;
    const [at, from, centre] = [12 * bone, 9 * bone, 3 * bone];
    const [x, y, z] = [centres[centre], centres[centre + 1], centres[centre + 2]];
    const [p, q, r] = [x + moved[centre], y + moved[centre + 1], z + moved[centre + 2]];
    for (let i = 0; i < 3; i++) {
      const [a, b, c] = [whole[3 * i], whole[3 * i + 1], whole[3 * i + 2]];
      const row = at + 4 * i;
      for (let j = 0; j < 3; j++) {
        transforms[row + j] = a * rotations[from + j] + b * rotations[from + 3 + j] + c * rotations[from + 6 + j];
      }
      const rotated = transforms[row] * x + transforms[row + 1] * y + transforms[row + 2] * z;
      transforms[row + 3] = a * p + b * q + c * r + translation[i] - rotated;
    }
  }

  /** Take over the amounts of the bones where they are others than before, and mark these. */
  private takeAmounts(): void {
    const { amounts, amountCount, changed } = this;
    const predicted = this.models.amounts;
    for (let bone = 0; bone < changed.length; bone++) {
      const [begin, end] = [amountCount * bone, amountCount * (bone + 1)];
      changed[bone] = 0;
      for (let k = begin; k < end; k++) {
        if (Math.abs(amounts[k] - predicted[k]) > SAME * (1 + Math.abs(amounts[k]))) changed[bone] = 1;
      }
      if (changed[bone]) for (let k = begin; k < end; k++) amounts[k] = predicted[k];
    }
  }

  /** Call back with the amounts of all bones at each example, in order. */
  atSamples(visit: (amounts: Float64Array) => void): void {
    const { samples, sampleCount, rest } = this.description;
    for (let s = 0; s < sampleCount; s++) {
      this.models.predict(samples.subarray(rest.length * s, rest.length * (s + 1)));
      visit(this.models.amounts);
    }
  }
}
