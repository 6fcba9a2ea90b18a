import assert from "node:assert/strict";
import { test } from "node:test";
import { Influence } from "../../studio/influence.ts";
import { PosePlane } from "../../studio/pose_plane.ts";
import { distanceWords, UNITS } from "../../studio/units.ts";

/** A skin whose joints have rotations, degrees of freedom and controls; its only layer has two coordinates. */
const skin = (given) => ({
  controls: given.controls ?? {},
  rotation: (joint) => given.rotations[joint],
  freedom: (joint, axis) => given.freedoms[joint][axis],
  description: { layers: [{ name: "elbow", driver: 1 }], starts: [0, 3, 5] },
  coordinates: Float64Array.of(9, 9, 9, 0.25, 0.75),
});

const about = (axis, angle) => [...axis.map((part) => part * Math.sin(angle / 2)), Math.cos(angle / 2)];

function influence(axis, words = {}) {
  const ok = { layer: "elbow", column: 1, unit: "radians", own: 1.2, radius: 0.5, scale: 1, others: {}, controls: [] };
  return new Influence("bent", {
    ok: { ...ok, ...words, axis },
    arrays: { distance: Float32Array.of(0, 1.8), weight: Float32Array.of(0, 1) },
  });
}

test("a joint stands on its way at the angle about its axis, whichever sign its quaternion has", () => {
  const axis = { inputs: [0], start: about([0, 0, 1], 0.3), gains: [1 / 1.2], axes: [[0, 0, 1]] };
  const curve = influence(axis);
  for (const sign of [1, -1]) {
    const rotation = about([0, 0, 1], 0.3 + 0.6).map((part) => sign * part);
    assert.ok(Math.abs(curve.along(skin({ rotations: [rotation] })) - 0.6) < 1e-12);
  }
  assert.ok(Math.abs(curve.along(skin({ rotations: [about([0, 0, 1], 0.3)] }))) < 1e-12);
});

test("degrees of freedom and controls count from rest, by their gains", () => {
  const axis = { inputs: [[2, 1], "smile", "unknown"], start: [0.1, 0, 0], gains: [0.5, 0.25, 1], axes: [] };
  const curve = influence(axis, { own: 2 });
  const at = skin({ freedoms: { 2: [0, 0.5] }, controls: { smile: 0.8 } });
  assert.ok(Math.abs(curve.along(at) - 2 * (0.5 * 0.4 + 0.25 * 0.8)) < 1e-12);
});

test("the weight is the coordinate that the skin is drawn with; a skin without the layer has none", () => {
  const curve = influence({ inputs: [], start: [], gains: [], axes: [] });
  assert.equal(curve.weightIn(skin({})), 0.75);
  const other = influence({ inputs: [], start: [], gains: [], axes: [] }, { layer: "knee" });
  assert.equal(other.weightIn(skin({})), null);
});

test("a pose's point on the plane is its offset from rest along the two axes; far poses are off the plane", () => {
  const plane = new PosePlane({
    ok: {
      names: ["bent", "head", "rest"],
      muted: [false, true, false],
      axes: [{ words: "elbow bends" }, { words: "elbow bends" }],
      inputs: [[1, 2], "smile"],
    },
    arrays: {
      dots: Float32Array.of(1, 0, 0.1, 0, 0, 0),
      residuals: Float32Array.of(0.1, 0.9, 0),
      rest: Float32Array.of(0.5, 0),
      extents: Float32Array.of(1, 2),
      basis: Float32Array.of(1, 0, 0, 1),
    },
  });
  assert.deepEqual(
    plane.dots.map(({ name, muted, off }) => [name, muted, off]),
    [
      ["bent", false, false],
      ["head", true, true],
      ["rest", false, false],
    ],
  );
  assert.deepEqual(plane.axes, ["elbow bends", "elbow bends about another axis"]);
  assert.deepEqual(plane.point(skin({ freedoms: { 1: [0, 0, 0.75] }, controls: { smile: 1 } })), [0.25, 0.5]);
});

test("distances are shown in degrees or the control's unit", () => {
  assert.equal(distanceWords(Math.PI / 3, UNITS.radians), "60°");
  assert.equal(distanceWords(0.456, UNITS.control), "0.46");
  assert.equal(distanceWords(0.5, UNITS.fraction), "50 %");
});
