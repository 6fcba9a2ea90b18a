/**
 * What `POSESPACE_drivers` says of a mesh, checked: files are hostile until then. Every number that is later used as an
 * index is known to be in range, and every array to lie within its buffer.
 */

import { Fields } from "./fields.js";

export const EXTENSION = "POSESPACE_drivers";
const VERSION = 1;

export const KINDS = ["joint", "quaternions", "freedoms", "controls", "points"] as const;
export const KERNELS = [
  "gaussian",
  "exponential",
  "multiquadric",
  "thin_plate",
  "linear",
  "cubic",
  "shepard",
] as const;
export const TAILS = ["none", "constant", "linear"] as const;

/** How a joint takes part in pose spaces. */
export interface Joint {
  /** The glTF node. */
  node: number;
  /** The joint it is linked to, or -1: then it is part of the motion of the whole and always at rest. */
  link: number;
  /** Whether the joint it is linked to is its parent. */
  own: boolean;
  /** Its part's rotation at rest. */
  rest: Float64Array;
  /** Where its node rests in its parent; where it is linked elsewhere, where it rests as seen from there. */
  origin: Float64Array;
  /** The axes of its angles, row by row. */
  axes: Float64Array;
  /** The least and the largest angle about each axis, in radians; null where the rig has none. */
  limits: Float64Array | null;
}

/** A smooth function of the pose. */
export interface Driver {
  kind: (typeof KINDS)[number];
  /** Joints, pairs of joint and axis, or controls, by kind. */
  inputs: Int32Array;
  kernel: (typeof KERNELS)[number];
  tail: (typeof TAILS)[number];
  /** How far from the first sample it knows its way; for Shepard, from where on the nearest sample is not alone. */
  reach: number;
  power: number;
  radius: Float64Array;
  centres: Float64Array;
  weights: Float64Array;
  samples: number;
  dimensions: number;
  columns: number;
}

/** A morph target as part of a layer: displacements of a weight of 1, which stands for a coordinate of `scale`. */
export interface Target {
  /** The number of its coordinate, counted over all drivers; -1 for a blend shape of the rig's own file. */
  coordinate: number;
  scale: number;
  /** 32, 16 or 8 bits of its numbers, and the length of a step of points and of normals where they are whole. */
  bits: number;
  step: number;
  normalStep: number;
}

/** All of it. */
export interface Description {
  joints: Joint[];
  controls: string[];
  drivers: Driver[];
  targets: Target[];
  layers: string[];
  /** The node above the skeleton that only places it, or -1. */
  above: number;
  /** How many coordinates there are in all, and for each its layer and its place among the layer's components. */
  coordinates: number;
  layerOf: Int32Array;
  componentOf: Int32Array;
}

/** How many of each thing the file has that the description may refer to. */
export interface Counts {
  nodes: number;
  targets: number;
}

/** Read the extension of a mesh; `numbers` is what its buffer view holds. Throws an Error of one line. */
export function readDescription(json: unknown, numbers: ArrayBuffer, counts: Counts): Description {
  const fields = new Fields(json, EXTENSION);
  if (fields.whole("version", 1, 1e9) !== VERSION) throw new Error(`${EXTENSION}: expected version ${VERSION}`);
  if (numbers.byteLength % 8) throw new Error(`${EXTENSION}: numbers: expected 8 bytes each`);
  const pool = new Float64Array(numbers.slice(0));
  if (!pool.every(Number.isFinite)) throw new Error(`${EXTENSION}: numbers: expected finite ones`);
  const every = fields.parts("joints");
  const joints = every.map((joint) => readJoint(joint, counts.nodes, every.length));
  const controls = fields.texts("controls");
  const drivers = fields.parts("drivers").map((driver) => readDriver(driver, pool, joints.length, controls.length));
  const above = fields.has("above") ? fields.whole("above", 0, counts.nodes - 1) : -1;
  return { joints, controls, drivers, above, ...readLayers(fields, drivers, counts.targets) };
}

/** The buffer view that holds the numbers of an extension. */
export function numbersView(json: unknown, views: number): number {
  return new Fields(json, EXTENSION).whole("numbers", 0, views - 1);
}

function readJoint(fields: Fields, nodes: number, joints: number): Joint {
  const found = {
    node: fields.whole("node", 0, nodes - 1),
    link: fields.whole("link", -1, joints - 1),
    own: fields.flag("own"),
    rest: fields.numbers("rest", 4),
    origin: fields.numbers("origin", 3),
    axes: fields.has("axes") ? fields.numbers("axes", 9) : Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1),
    limits: fields.has("limits") ? fields.numbers("limits", 6) : null,
  };
  if (Math.abs(Math.hypot(...found.rest) - 1) > 1e-3) throw new Error(`${fields.where}: rest: expected a unit quaternion`);
  return found;
}

function readDriver(fields: Fields, pool: Float64Array, joints: number, controls: number): Driver {
  const kind = fields.choice("kind", KINDS);
  const kernel = fields.choice("kernel", KERNELS);
  const tail = kernel === "shepard" ? "none" : fields.choice("tail", TAILS);
  const inputs = fields.wholes("inputs", -1, Math.max(joints, controls, 6) - 1);
  const dimensions = checkInputs(fields, kind, inputs, joints, controls);
  const [at, samples] = fields.wholes("centres", 0, pool.length, 2);
  const [start, columns] = fields.wholes("weights", 0, pool.length, 2);
  const rows = samples + { none: 0, constant: 1, linear: 1 + dimensions }[tail];
  if (samples < 1 || columns < 1) throw new Error(`${fields.where}: expected at least one sample and one column`);
  const axes = kind === "joint" ? dimensions / 4 : dimensions;
  const radius =
    kernel === "shepard" ? new Float64Array(axes).fill(1) : slice(fields, pool, fields.whole("radius", 0, pool.length), axes);
  if (!radius.every((each) => each > 1e-150)) throw new Error(`${fields.where}: radius: expected above 0`);
  const reach = fields.has("reach") ? fields.number("reach") : Infinity;
  const power = kernel === "shepard" ? fields.number("power") : 0;
  if (reach < 0 || power < 0) throw new Error(`${fields.where}: reach and power: expected at least 0`);
  const centres = slice(fields, pool, at, samples * dimensions);
  const weights = slice(fields, pool, start, rows * columns);
  return { kind, inputs, kernel, tail, reach, power, radius, centres, weights, samples, dimensions, columns };
}

/** The dimensions of a driver's space; throws where an input names no joint or control. */
function checkInputs(
  fields: Fields,
  kind: Driver["kind"],
  inputs: Int32Array,
  joints: number,
  controls: number,
): number {
  const wrong = (k: number) => {
    if (kind === "controls" || kind === "points") return inputs[k] < 0 || inputs[k] >= controls;
    if (kind !== "freedoms") return inputs[k] < 0 || inputs[k] >= joints;
    if (k % 2) return false;
    const [joint, axis] = [inputs[k], inputs[k + 1]];
    return joint >= joints || axis < 0 || axis >= (joint < 0 ? controls : 6);
  };
  if (!inputs.length || (kind === "freedoms" && inputs.length % 2) || inputs.some((_, k) => wrong(k))) {
    throw new Error(`${fields.where}: inputs: expected joints or controls that are there`);
  }
  if (kind === "freedoms") return inputs.length / 2;
  return inputs.length * (kind === "joint" || kind === "quaternions" ? 4 : 1);
}

function slice(fields: Fields, pool: Float64Array, start: number, count: number): Float64Array {
  if (start + count > pool.length) throw new Error(`${fields.where}: expected numbers within the buffer`);
  return pool.subarray(start, start + count);
}

/** The layers, and which target belongs to which of their coordinates. */
function readLayers(fields: Fields, drivers: Driver[], count: number) {
  const starts = drivers.map((_, k) => drivers.slice(0, k).reduce((sum, driver) => sum + driver.columns, 0));
  const total = drivers.reduce((sum, driver) => sum + driver.columns, 0);
  const layers = fields.parts("layers").map((layer) => ({
    name: layer.text("name"),
    driver: layer.whole("driver", 0, drivers.length - 1),
    normals: layer.has("normals") ? layer.whole("normals", 0, drivers.length - 1) : -1,
    bits: layer.choice("bits", [32, 16, 8] as const),
    steps: layer.has("steps") ? layer.numbers("steps") : new Float64Array(0),
    normalSteps: layer.has("normalSteps") ? layer.numbers("normalSteps") : new Float64Array(0),
  }));
  const layerOf = new Int32Array(total).fill(-1);
  const componentOf = new Int32Array(total);
  layers.forEach((layer, k) =>
    [layer.driver, layer.normals].filter((each) => each >= 0).forEach((driver) => {
      for (let c = 0; c < drivers[driver].columns; c++) {
        layerOf[starts[driver] + c] = k;
        componentOf[starts[driver] + c] = c;
      }
    }),
  );
  const rows = fields.list("targets");
  if (rows.length !== count) throw new Error(`${fields.where}: targets: expected the ${count} of the mesh`);
  const targets = rows.map((row, k): Target => {
    const own = new Fields({ row }, `${fields.where}: target ${k}`).numbers("row", 4);
    const [layer, component, kind, scale] = own;
    if (layer === -1) return { coordinate: -1, scale: 1, bits: 32, step: 1, normalStep: 1 };
    const { driver, normals, bits, steps, normalSteps } = layers[layer] ?? {};
    const mover = kind === 1 ? normals : driver;
    const valid = mover !== undefined && mover >= 0 && drivers[mover].columns > component && component >= 0;
    if (!valid || !Number.isInteger(component) || scale === 0) {
      throw new Error(`${fields.where}: target ${k}: expected a component of a layer`);
    }
    const step = bits === 32 ? 1 : (steps[component] ?? 1);
    const normalStep = bits === 32 ? 1 : (normalSteps[component] ?? 1);
    if (!(step > 0 && normalStep > 0)) throw new Error(`${fields.where}: target ${k}: expected steps above 0`);
    return { coordinate: starts[mover] + component, scale, bits, step, normalStep };
  });
  return { layers: layers.map((layer) => layer.name), targets, coordinates: total, layerOf, componentOf };
}
