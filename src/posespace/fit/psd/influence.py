"""Influence: how strongly a sculpt acts along the way from rest through its pose, and at any pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, whole
from posespace.errors import InputError, quoted
from posespace.fit.psd.plan import LayerPlan
from posespace.interpolate.fitted import RBFInterpolant
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.pose_axis import PoseAxis
from posespace.rig import Rig
from posespace.skin.bound import Bound, Neighbourhoods
from posespace.skin.layer import Layer

_BEYOND = 1.5
"""The curve ends this many times as far from rest as the pose, or where a joint has made half a turn."""

_LEAST = 1e-3
"""A sculpt whose weight at its own pose is less has none: it adds nothing to the layers before."""


@dataclass(frozen=True, eq=False)
class Influence:
    """How strongly a sculpt acts along an axis of poses: from rest through its own pose, and beyond.

    The weights are those that the skin is played with: of the fitted driver, within the bound on corrections.

    Parameters
    ----------
    layer : the name of its layer in the skin
    unit : of distances from rest: "radians"; "control", the control's unit; "length", the rig's unit; or "fraction" of
        the way to the pose, where the pose moves more than one of these
    distance, weight : (S,) the curve; at the sculpt's own pose the weight is 1, unless the fit smooths
    own : distance of the sculpt's own pose
    radius : the radius of influence along this axis
    others : distances at which the other sculpts of the layer, and those that it must be zero at, stand along the axis
    axis : the axis, in the layer's pose space
    column : which of the layer's coordinates the weight is
    """

    layer: str
    unit: str
    distance: Floats
    weight: Floats
    own: float
    radius: float
    others: Mapping[str, float]
    axis: PoseAxis
    column: int
    _weigher: _Weigher

    def at(self, pose: Pose) -> tuple[float, float]:
        """Return where any pose stands along the axis, as a distance from rest, and the sculpt's weight in it."""
        position = self.axis.space.coordinates(pose, self.axis.skeleton)[None]
        along = float(self.axis.fractions(position)[0]) * self.axis.length
        return along, float(self._weigher.weights(position)[0])


@dataclass(frozen=True, eq=False)
class _Weigher:
    """One coordinate of a layer: the weight of a sculpt at positions in its pose space."""

    layer: Layer
    column: int
    bound: Bound

    def weights(self, positions: Floats) -> Floats:
        """Return the weights (Q,) at positions (Q, D)."""
        return np.asarray(self.bound.kept(self.layer.driver.interpolant(positions))[:, self.column])


def influence_of(
    rig: Rig,
    plan: LayerPlan,
    layers: Sequence[Layer],
    motion: Motion,
    name: str,
    around: Neighbourhoods,
    samples: int,
) -> Influence:
    """Return the influence of the sculpt `name`, which is one of the plan's, along `samples` points.

    Parameters
    ----------
    rig : with links for pose spaces
    plan, layers : the sculpt's plan, and the layers that were solved for it
    motion : the poses of all sculpts
    around : the neighbourhoods of the rig's mesh
    """
    if whole("samples", samples) < 2:
        raise InputError(f"samples: expected at least 2, got {samples}")
    positions, number = plan.space.coordinates(motion, rig.skeleton), motion.index(name)
    layer, column = _coordinate_of(name, positions[number], layers)
    rest, interpolant = plan.space.coordinates(rig.rest, rig.skeleton), layer.driver.interpolant
    assert isinstance(interpolant, RBFInterpolant)
    axis = PoseAxis(plan.space, rest, positions[number], np.asarray(interpolant.radius), rig.skeleton)
    if not axis.length:
        raise InputError(f"sculpt {quoted(name)}: it is at the rest pose of its layer, so no axis leads to it")
    weigher = _Weigher(layer, column, Bound.of(layer.driver, [(layer.support, layer.basis)], around))
    fractions = np.linspace(0.0, axis.farthest(_BEYOND), samples)
    held = [numbers[0] for numbers in plan.held if numbers]
    others = [other for other in (*plan.examples, *held) if other != number]
    along = axis.fractions(positions[others]) * axis.length if others else ()
    return Influence(
        layer.name,
        axis.unit,
        fractions * axis.length,
        weigher.weights(axis.positions(fractions)),
        axis.length,
        axis.radius_along,
        {motion.names[other]: float(distance) for other, distance in zip(others, along, strict=True)},
        axis,
        column,
        weigher,
    )


def _coordinate_of(name: str, position: Floats, layers: Sequence[Layer]) -> tuple[Layer, int]:
    """The layer, and the coordinate in it, of a sculpt at a position (D,): the one that is largest there."""
    best, found = _LEAST, None
    for layer in layers:
        values = layer.driver.interpolant(position[None])[0]
        column = int(np.abs(values).argmax())
        if abs(values[column]) > best:
            best, found = abs(float(values[column])), (layer, column)
    if found is None:
        raise InputError(f"sculpt {quoted(name)}: it adds nothing to what the other layers give at its pose")
    return found
