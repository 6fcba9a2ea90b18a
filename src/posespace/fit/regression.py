"""Regression: a smooth function of the pose that is zero at rest, from many poses, and how well it predicts new ones.

It is a sum of multiquadrics around nodes, pinned to zero at the rest pose: with a wide radius nearly a polynomial, with
a narrow one nearly piecewise linear. Radius and smoothing are those that best predict runs of poses left out of the
fit; the next frame of a clip would give too much away, so whole runs are left out, not single poses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.geometry.farthest_points import spread
from posespace.interpolate.distances import distances
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernels import KERNELS
from posespace.motion import Motion
from posespace.poses.axis_lengths import axis_lengths
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig

RADII = (0.1, 0.3, 1.0, 3.0)
"""Radii tried, as fractions of the largest distance between poses."""

SMOOTHINGS = tuple(10.0**power for power in range(-7, 1))
"""Smoothings tried, relative to the mean of a pose's kernel with itself."""

EXACT = 1e-8
"""The smoothing of a function that passes through its values: just enough to keep its system sound."""

REACH = 2.0
"""How far from rest a function changes: so many times as far as any pose it was fitted to."""

HELD = 1.25
"""The same for functions that pass through their samples, which run wild sooner."""

RUNS = 15
"""Runs of poses that are left out in turn."""

TRIED = 120
"""Most poses, spread evenly, that the choice is made on."""

_KEPT = 1e-4
"""Principal coordinates of the displacements below this fraction of the largest do not count in the choice."""

_NEAR = 1e-6
_SOUND = 1e-12


@dataclass(frozen=True, eq=False)
class Places:
    """Where poses lie in a space, from rest and in the mesh's unit.

    Parameters
    ----------
    space : of freedoms or controls
    lengths : (D,) what a unit along each axis counts
    rest : (D,) the rest pose, in the units of the axes
    poses : (P, D) the poses, from rest, times the lengths
    """

    space: PoseSpace
    lengths: Floats
    rest: Floats
    poses: Floats

    @classmethod
    def of(cls, rig: Rig, motion: Motion, space: PoseSpace) -> Places:
        """Find the poses of a motion in a space."""
        where, rest = (space.coordinates(each, rig.skeleton) for each in (motion, rig.rest))
        lengths = axis_lengths(rig, space, np.vstack([where, rest]))
        return cls(space, lengths, rest, (where - rest) * lengths)

    def some(self, chosen: NDArray[np.integer]) -> Places:
        """Return some of the poses."""
        return Places(self.space, self.lengths, self.rest, self.poses[chosen])

    @cached_property
    def extent(self) -> float:
        """The largest distance of a pose from rest, doubled: about the largest between two poses."""
        return 2.0 * float(np.linalg.norm(self.poses, axis=1).max(initial=0.0)) or 1.0


@dataclass(frozen=True, eq=False)
class Regression:
    """Multiquadrics around nodes.

    Parameters
    ----------
    places : the space, and the poses that it is fitted to
    nodes : (M, D) from rest, as in `places`
    radius : of the multiquadrics, in the mesh's unit
    smoothing : what a rough function costs, relative to the squared errors
    """

    places: Places
    nodes: Floats
    radius: float
    smoothing: float

    @cached_property
    def _spectrum(self) -> tuple[Floats, Floats]:
        """Sizes (K,) and vectors (M, K) of the kernel between the nodes, those that are more than rounding."""
        sizes, vectors = np.linalg.eigh(pinned(self.nodes, self.nodes, self.radius))
        kept = sizes > _SOUND * sizes.max(initial=0.0)
        return sizes[kept], vectors[:, kept]

    @cached_property
    def features(self) -> Floats:
        """(P, M) how much of each node's value there is in each pose."""
        sizes, vectors = self._spectrum
        return np.asarray(pinned(self.places.poses, self.nodes, self.radius) @ (vectors / sizes) @ vectors.T)

    @cached_property
    def operator(self) -> Floats:
        """(M, P) from values at the poses to values at the nodes."""
        sizes, vectors = self._spectrum
        cost = self.smoothing * _mean_size(self.places.poses, self.radius)
        # In the functions of the spectrum roughness is diagonal, and a decomposition of the stacked rows keeps the
        # digits that a product of the features with themselves loses.
        along = pinned(self.places.poses, self.nodes, self.radius) @ (vectors / np.sqrt(sizes))
        stacked = np.vstack([along, np.sqrt(cost) * np.eye(len(sizes))])
        return np.asarray((vectors * np.sqrt(sizes)) @ np.linalg.pinv(stacked, rcond=1e-13)[:, : len(along)])

    def interpolant(self, values: Floats, at_rest: Floats | float = 0.0) -> RBFInterpolant:
        """Return the function with `values` (M, C) at the nodes and `at_rest` (C,) at rest, to be played."""
        places, (sizes, vectors) = self.places, self._spectrum
        weights = (vectors / sizes) @ (vectors.T @ (values - at_rest))
        centres = places.rest + np.vstack([np.zeros(self.nodes.shape[1]), self.nodes]) / places.lengths
        # Pinned at rest: the rest pose is a centre too, and the weights of all centres add up to none.
        constant = np.sqrt(1 + (self.nodes**2).sum(axis=1) / self.radius**2) @ weights - weights.sum(axis=0) + at_rest
        rows = np.vstack([weights.sum(axis=0), -weights, constant])
        radius = np.asarray(self.radius / places.lengths, dtype=np.float64)
        reach = REACH * 0.5 * places.extent / self.radius
        return RBFInterpolant("multiquadric", "euclidean", "constant", radius, centres, rows, reach)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What the best choice predicts of poses that were left out.

    Parameters
    ----------
    radius, smoothing : the choice
    error, plain : summed squares of what was not predicted, and of all there was
    shrink : the factor from 0 to 1 that would have made the error least
    """

    radius: float
    smoothing: float
    error: float
    plain: float
    shrink: float

    @property
    def ratio(self) -> float:
        """The error as a fraction of plain skinning's, as it is after shrinking."""
        return float(np.sqrt(self.error / self.plain)) if self.plain > 0 else 0.0

    def regression(self, places: Places, most: int) -> Regression:
        """Return the regression of this choice with up to `most` nodes, spread over the poses."""
        return Regression(places, nodes_among(places, most), self.radius, self.smoothing)


def pinned(where: Floats, nodes: Floats, radius: float) -> Floats:
    """Return (Q, M) multiquadrics, with a sign that makes them positive definite, that vanish at the origin."""
    value = KERNELS["multiquadric"].value
    far, near = (value(np.linalg.norm(each, axis=1) / radius) for each in (where, nodes))
    return np.asarray(far[:, None] + near - value(distances(where, nodes) / radius) - 1.0)


def _mean_size(where: Floats, radius: float) -> float:
    """The mean over places (P, D) of the pinned multiquadric of a place with itself."""
    return float((2 * np.sqrt(1 + (where**2).sum(axis=1) / radius**2) - 2).mean()) or 1.0


def nodes_among(places: Places, most: int) -> Floats:
    """Return up to `most` of the poses (M, D), each the farthest from rest and those before it."""
    poses = places.poses
    gaps = np.linalg.norm(poses, axis=1)
    least = _NEAR * float(gaps.max(initial=0.0))
    return poses[spread(gaps, lambda k: np.linalg.norm(poses - poses[k], axis=1), min(most, len(poses)), least)]


def tried_poses(count: int, most: int = TRIED) -> NDArray[np.int64]:
    """Return the numbers of at most `most` of `count` poses, spread evenly, that choices are made on."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(np.int64))


class Trial:
    """Poses in a space, left out in runs: which radius and smoothing predict them best from the others, and how well.

    What depends on the poses alone is found once, for whatever displacements are asked about.

    Parameters
    ----------
    places : of the poses; at most `most` of them, spread evenly, are tried
    """

    def __init__(self, places: Places, most: int = TRIED) -> None:
        self.tried = tried_poses(len(places.poses), most)
        self.places = places
        poses = places.poses[self.tried]
        self._runs = np.array_split(np.arange(len(poses)), min(RUNS, len(poses)))
        self._kernels = []
        for radius in (fraction * places.extent for fraction in RADII):
            sizes, vectors = np.linalg.eigh(pinned(poses, poses, radius))
            self._kernels.append((radius, np.maximum(sizes, 0.0), vectors, _mean_size(poses, radius)))

    def best(self, values: Floats, exact: bool = False) -> LeftOut:
        """Return the best choice for values (T, K) at the poses tried, e.g. their `principal_coordinates`.

        An exact one passes through all values, whether that predicts left-out poses or not.
        """
        plain = float((values**2).sum())
        best = LeftOut(self.places.extent, SMOOTHINGS[-1], math.inf if exact else plain, plain, 0.0)
        # The widest kernels have weights that cancel each other, which costs the digits that an exact fit needs.
        for radius, sizes, vectors, mean in self._kernels[:-1] if exact else self._kernels:
            turned = vectors.T @ values
            for smoothing in (EXACT,) if exact else SMOOTHINGS:
                damped = vectors / (sizes + smoothing * mean)
                guessed = values - _errors(damped, vectors, turned, self._runs)
                shrink = 1.0 if exact else _shrink(guessed, values)
                error = float(((shrink * guessed - values) ** 2).sum())
                if error < best.error:
                    best = LeftOut(radius, smoothing, error, plain, shrink)
        return best


def _errors(damped: Floats, vectors: Floats, turned: Floats, runs: Sequence[NDArray[np.integer]]) -> Floats:
    """What is not predicted (P, K) of each run from the others, in closed form from the inverse of the system."""
    weights, errors = damped @ turned, np.empty((len(damped), turned.shape[1]))
    for run in runs:
        errors[run] = np.linalg.solve(damped[run] @ vectors[run].T, weights[run])
    return errors


def _shrink(guessed: Floats, values: Floats) -> float:
    """The factor from 0 to 1 by which a guess is nearest to the values."""
    size = float((guessed**2).sum())
    return float(np.clip((guessed * values).sum() / size, 0.0, 1.0)) if size > 0 else 0.0


def principal_coordinates(gram: Floats) -> Floats:
    """Return (P, K) coordinates of poses with the products `gram` (P, P): all that choices need of displacements."""
    sizes, vectors = np.linalg.eigh(gram)
    sizes = np.sqrt(np.maximum(sizes[::-1], 0.0))
    kept = sizes > _KEPT * sizes[0]
    return np.asarray(vectors[:, ::-1][:, kept] * sizes[kept])
