/**
 * What `POSESPACE_drivers` says of a mesh, checked: files are hostile until then. Every number that is later used as an
 * index is known to be in range, and every array to lie within its buffer.
 */

import { Fields } from "./fields.js";
import { KERNEL_NAMES } from "./kernels.js";
import type { KernelName } from "./kernels.js";
import { isOrthonormal } from "./span.js";

export const EXTENSION = "POSESPACE_drivers";
/** Versions that are read; the second adds learned bones and detail. */
const VERSIONS = [1, 2] as const;

/** Numbers that all drivers may read for a pose beside those of the file: many drivers may share a few of these. */
const MOST_SHARED = 2 ** 22;

/** Products that the checks of all spans may take. */
const MOST_PRODUCTS = 2 ** 28;

export const KINDS = ["joint", "quaternions", "freedoms", "controls"] as const;
/** How a driver interpolates: by a sum of radial functions, or by inverse distances. */
export const INTERPOLATIONS: readonly (KernelName | "shepard")[] = [...KERNEL_NAMES, "shepard"];
export const TAILS = ["none", "constant", "linear"] as const;

/** Numbers per sample of each input of a driver, by kind; inputs of "freedoms" are pairs. */
const DIMENSIONS = { joint: 4, quaternions: 4, freedoms: 0.5, controls: 1 } as const;

/** How a joint takes part in pose spaces. */
export interface Joint {
  /** The glTF node. */
  node: number;
  /** The joint it is linked to, or -1: then it is part of the motion of the whole and always at rest. */
  link: number;
  /** Whether the joint it is linked to is its parent. */
  linkIsParent: boolean;
  /** Its rotation at rest, relative to the joint it is linked to. */
  rest: Float64Array;
  /** The translation of its node at rest; where it is linked elsewhere, its position at rest as seen from there. */
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
  kernel: (typeof INTERPOLATIONS)[number];
  tail: (typeof TAILS)[number];
  /** Positions farther than this from the first sample are brought back to it; for Shepard, up to this distance the nearest sample counts alone. */
  reach: number;
  power: number;
  radius: Float64Array;
  centres: Float64Array;
  /** Rows of `axes` numbers: the directions from the first sample in which it varies; null: all. */
  span: Float64Array | null;
  weights: Float64Array;
  samples: number;
  dimensions: number;
  /** Numbers of a direction: one per dimension, or three per joint for rotations. */
  axes: number;
  columns: number;
}

/** Components that share a driver, as a fit made them. */
export interface Layer {
  name: string;
  driver: number;
  /** The driver of its normals where they have their own, or -1. */
  normals: number;
  /** 32, 16 or 8 bits per number, and per component the length of a step where numbers are whole. */
  bits: 32 | 16 | 8;
  steps: Float64Array;
  normalSteps: Float64Array;
}

/** What drives the meshes of a file. */
export interface Description {
  joints: Joint[];
  controls: string[];
  drivers: Driver[];
  layers: Layer[];
  /** All numbers of the file's drivers. */
  numbers: Float64Array;
  /** Metres per unit of length that the drivers know. */
  unit: number;
  /** Which axis of the skin became the file's y. */
  up: "y" | "z";
  /** Metres per unit of the meshes' positions, where these are fractions of a grid, and the grid's middle. */
  grid: number;
  gridCentre: Float64Array;
  /** Where each driver's coordinates begin among all, and how many there are in all. */
  starts: Int32Array;
  coordinates: number;
  /** Of each coordinate, the number of its component in its layer. */
  componentOf: Int32Array;
}

/** A morph target of a mesh: a weight of 1 adds `scale` to its coordinate, which is `low` at a weight of 0. */
export interface Target {
  kind: "component" | "offset" | "blend" | "fallback";
  /** The number of its coordinate, counted over all drivers; -1 where it is no component. */
  coordinate: number;
  /** Its layer and driver, and whether it is of the layer's driver of normals; -1 where it is no component. */
  layer: number;
  driver: number;
  normals: boolean;
  low: number;
  scale: number;
  bits: 32 | 16 | 8;
  step: number;
  normalStep: number;
}

/** The buffer view that holds the numbers of a file's extension. */
export function numbersView(json: unknown, views: number): number {
  return new Fields(json, EXTENSION).whole("numbers", 0, views - 1);
}

/** Read the extension of a file of so many nodes; `numbers` is what its buffer view holds. Throws an Error of one line. */
export function readDescription(json: unknown, numbers: ArrayBuffer, nodes: number): Description {
  const fields = new Fields(json, EXTENSION);
  fields.choice("version", VERSIONS);
  if (numbers.byteLength % 8) throw new Error(`${EXTENSION}: numbers: expected 8 bytes each`);
  const pool = new Float64Array(numbers.slice(0));
  if (!pool.every(Number.isFinite)) throw new Error(`${EXTENSION}: numbers: expected finite ones`);
  const jointFields = fields.parts("joints");
  const joints = jointFields.map((joint) => readJoint(joint, nodes, jointFields.length));
  if (new Set(joints.map(({ node }) => node)).size < joints.length) {
    throw new Error(`${EXTENSION}: joints: expected each node once`);
  }
  if (joints.some(({ link }, k) => link === k)) throw new Error(`${EXTENSION}: joints: expected links to others`);
  const controls = fields.texts("controls");
  const drivers = fields.parts("drivers").map((driver) => readDriver(driver, pool, joints.length, controls.length));
  checkWork(drivers, pool.length + MOST_SHARED);
  checkSpans(drivers);
  const layers = fields.parts("layers").map((layer) => readLayer(layer, drivers));
  const unit = fields.number("unit");
  if (!(unit > 0)) throw new Error(`${EXTENSION}: unit: expected above 0`);
  const up = fields.has("up") ? fields.choice("up", ["y", "z"] as const) : "y";
  const gridNumbers = fields.has("grid") ? fields.numbers("grid", 4) : Float64Array.of(0, 0, 0, 1);
  const [gridCentre, grid] = [gridNumbers.subarray(0, 3), gridNumbers[3]];
  if (!(grid > 0)) throw new Error(`${EXTENSION}: grid: expected a size above 0`);
  const starts = new Int32Array(drivers.length);
  const componentOf: number[] = [];
  drivers.forEach(({ columns }, k) => {
    starts[k] = componentOf.length;
    for (let c = 0; c < columns; c++) componentOf.push(c);
  });
  const coordinates = componentOf.length;
  return {
    joints,
    controls,
    drivers,
    layers,
    numbers: pool,
    unit,
    up,
    grid,
    gridCentre,
    starts,
    coordinates,
    componentOf: Int32Array.from(componentOf),
  };
}

/** Throws where drivers read more than `most` numbers for a pose: a short file could keep a player busy for ever. */
function checkWork(drivers: Driver[], most: number): void {
  const total = drivers.reduce(
    (sum, { centres, span, weights }) => sum + centres.length + (span?.length ?? 0) + weights.length,
    0,
  );
  if (total > most) throw new Error(`${EXTENSION}: drivers: expected at most ${most} numbers for a pose, got ${total}`);
}

/** Throws where the rows of a span are not orthonormal. */
function checkSpans(drivers: Driver[]): void {
  let products = 0;
  drivers.forEach(({ span, axes }, k) => {
    if (!span) return;
    products += span.length ** 2 / axes;
    if (products > MOST_PRODUCTS) throw new Error(`${EXTENSION}: drivers: expected spans of fewer directions`);
    if (!isOrthonormal(span, axes)) throw new Error(`${EXTENSION}: drivers ${k}: span: expected orthonormal rows`);
  });
}

/** Read the extension of a mesh whose primitives have so many targets each: which component each target is. */
export function readTargetList(json: unknown, description: Description, counts: number[]): Target[] {
  const fields = new Fields(json, `${EXTENSION} of a mesh`);
  const rows = fields.has("targets") ? fields.parts("targets") : [];
  counts.forEach((count, k) => {
    if (rows.length === count) return;
    throw new Error(`${fields.where}: targets: expected ${count} as in primitive ${k}, got ${rows.length}`);
  });
  return rows.map((row) => readTarget(row, description));
}

function readTarget(fields: Fields, { layers, drivers, starts, unit, grid }: Description): Target {
  if (!fields.has("layer")) {
    const is = (name: string) => fields.has(name) && fields.flag(name);
    return {
      kind: is("offset") ? "offset" : is("fallback") ? "fallback" : "blend",
      coordinate: -1,
      layer: -1,
      driver: -1,
      normals: false,
      low: 0,
      scale: 1,
      bits: 32,
      step: 1,
      normalStep: 1,
    };
  }
  const number = fields.whole("layer", 0, layers.length - 1);
  const layer = layers[number];
  const normals = fields.has("normals") && fields.flag("normals");
  const driver = normals ? layer.normals : layer.driver;
  if (driver < 0) throw new Error(`${fields.where}: normals: expected a layer whose normals have a driver`);
  const component = fields.whole("component", 0, drivers[driver].columns - 1);
  const [low, scale] = [fields.number("low"), fields.number("scale")];
  if (scale === 0) throw new Error(`${fields.where}: scale: expected another number than 0`);
  const whole = layer.bits < 32;
  const step = whole ? (unit * (layer.steps[component] ?? 1)) / grid : 1;
  const normalStep = whole ? (layer.normalSteps[component] ?? 1) : 1;
  const coordinate = starts[driver] + component;
  return {
    kind: "component",
    coordinate,
    layer: number,
    driver,
    normals,
    low,
    scale,
    bits: layer.bits,
    step,
    normalStep,
  };
}

function readLayer(fields: Fields, drivers: Driver[]): Layer {
  const steps = (name: string) => {
    const lengths = fields.has(name) ? fields.numbers(name) : new Float64Array(0);
    if (!lengths.every((length) => length > 0)) throw new Error(`${fields.where}: ${name}: expected above 0`);
    return lengths;
  };
  return {
    name: fields.text("name"),
    driver: fields.whole("driver", 0, drivers.length - 1),
    normals: fields.has("normals") ? fields.whole("normals", 0, drivers.length - 1) : -1,
    bits: fields.choice("bits", [32, 16, 8] as const),
    steps: steps("steps"),
    normalSteps: steps("normalSteps"),
  };
}

function readJoint(fields: Fields, nodes: number, joints: number): Joint {
  const joint = {
    node: fields.whole("node", 0, nodes - 1),
    link: fields.has("link") ? fields.whole("link", 0, joints - 1) : -1,
    linkIsParent: fields.flag("own"),
    rest: fields.numbers("rest", 4),
    origin: fields.numbers("origin", 3),
    axes: fields.has("axes") ? fields.numbers("axes", 9) : Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1),
    limits: fields.has("limits") ? fields.numbers("limits", 6) : null,
  };
  if (Math.abs(Math.hypot(...joint.rest) - 1) > 1e-3)
    throw new Error(`${fields.where}: rest: expected a unit quaternion`);
  return joint;
}

function readDriver(fields: Fields, pool: Float64Array, joints: number, controls: number): Driver {
  const kind = fields.choice("kind", KINDS);
  const kernel = fields.choice("kernel", INTERPOLATIONS);
  const tail = kernel === "shepard" ? "none" : fields.choice("tail", TAILS);
  const inputs = fields.wholes("inputs", -1, Math.max(joints, controls, 6) - 1);
  const dimensions = checkInputs(fields, kind, inputs, joints, controls);
  const [centresStart, samples] = fields.wholes("centres", 0, pool.length, 2);
  const [weightsStart, columns] = fields.wholes("weights", 0, pool.length, 2);
  const rows = samples + { none: 0, constant: 1, linear: 1 + dimensions }[tail];
  if (samples < 1 || columns < 1) throw new Error(`${fields.where}: expected at least one sample and one column`);
  const radii = kind === "joint" ? dimensions / 4 : dimensions;
  const radius =
    kernel === "shepard"
      ? new Float64Array(radii).fill(1)
      : slice(fields, pool, fields.whole("radius", 0, pool.length), radii);
  if (!radius.every((length) => length > 1e-150)) throw new Error(`${fields.where}: radius: expected above 0`);
  const reach = fields.has("reach") ? fields.number("reach") : Infinity;
  const power = kernel === "shepard" ? fields.number("power") : 0;
  if (reach < 0 || power < 0) throw new Error(`${fields.where}: reach and power: expected at least 0`);
  const centres = slice(fields, pool, centresStart, samples * dimensions);
  const weights = slice(fields, pool, weightsStart, rows * columns);
  const axes = kind === "joint" ? 3 * radii : dimensions;
  const span = kernel === "shepard" || !fields.has("span") ? null : readSpan(fields, pool, samples, axes);
  return {
    kind,
    inputs,
    kernel,
    tail,
    reach,
    power,
    radius,
    centres,
    span,
    weights,
    samples,
    dimensions,
    axes,
    columns,
  };
}

function readSpan(fields: Fields, pool: Float64Array, samples: number, axes: number): Float64Array {
  const [start, rows] = fields.wholes("span", 0, pool.length, 2);
  const most = Math.min(samples, axes);
  if (rows > most) throw new Error(`${fields.where}: span: expected at most ${most} directions, got ${rows}`);
  return slice(fields, pool, start, rows * axes);
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
    if (kind === "controls") return inputs[k] < 0 || inputs[k] >= controls;
    if (kind === "joint" || kind === "quaternions") return inputs[k] < 0 || inputs[k] >= joints;
    if (k % 2) return false;
    const [joint, axis] = [inputs[k], inputs[k + 1]];
    return joint >= joints || axis < 0 || axis >= (joint < 0 ? controls : 6);
  };
  if (!inputs.length || (kind === "freedoms" && inputs.length % 2) || inputs.some((_, k) => wrong(k))) {
    throw new Error(`${fields.where}: inputs: expected joints or controls that are there`);
  }
  return inputs.length * DIMENSIONS[kind];
}

function slice(fields: Fields, pool: Float64Array, start: number, count: number): Float64Array {
  if (start + count > pool.length) throw new Error(`${fields.where}: expected numbers within the buffer`);
  return pool.subarray(start, start + count);
}
