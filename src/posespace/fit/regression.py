"""Regression: a smooth function of the pose that is zero at rest, from many poses, and how well it predicts new ones.

It is a sum of multiquadrics around nodes, pinned to zero at the rest pose: with a wide radius nearly a polynomial, with
a narrow one nearly piecewise linear. Radius and smoothing are chosen by cross-validation. Whole runs of poses are held
out rather than single ones, because a frame of a clip is easily predicted from the next.
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
"""Beyond this many times the distance from rest of the farthest fitted pose, a function stays constant."""

EXACT_REACH = 1.25
"""The same for functions that pass through their samples, which overshoot sooner."""

FOLDS = 15
"""Folds of the cross-validation; each is a run of consecutive poses."""

SAMPLED = 120
"""Most poses, spread evenly, that are used for the cross-validation."""

_LEAST_COORDINATE = 1e-4
"""Principal coordinates of the displacements below this fraction of the largest are ignored in the cross-validation."""

_NEAR = 1e-6
_SOUND = 1e-12


@dataclass(frozen=True, eq=False)
class PoseCoordinates:
    """Coordinates of poses in a pose space, relative to the rest pose and scaled to the mesh's unit.

    Parameters
    ----------
    space : of freedoms or controls
    lengths : (D,) the scale of each axis: mesh units per unit of the axis
    rest : (D,) the rest pose, in the units of the axes
    poses : (P, D) the poses relative to rest, times `lengths`
    """

    space: PoseSpace
    lengths: Floats
    rest: Floats
    poses: Floats

    @classmethod
    def of(cls, rig: Rig, motion: Motion, space: PoseSpace) -> PoseCoordinates:
        """Return the coordinates of a motion's poses in a pose space."""
        coordinates, rest = (space.coordinates(pose, rig.skeleton) for pose in (motion, rig.rest))
        lengths = axis_lengths(rig, space, np.vstack([coordinates, rest]))
        return cls(space, lengths, rest, (coordinates - rest) * lengths)

    def subset(self, chosen: NDArray[np.integer]) -> PoseCoordinates:
        """Return the coordinates of the chosen poses."""
        return PoseCoordinates(self.space, self.lengths, self.rest, self.poses[chosen])

    @cached_property
    def extent(self) -> float:
        """The largest distance of a pose from rest, doubled: about the largest between two poses."""
        return 2.0 * float(np.linalg.norm(self.poses, axis=1).max(initial=0.0)) or 1.0


@dataclass(frozen=True, eq=False)
class Regression:
    """A weighted sum of multiquadrics, one around each node.

    Parameters
    ----------
    samples : the poses that it is fitted to
    nodes : (M, D) the centres of the multiquadrics, in the coordinates of `samples`
    radius : of the multiquadrics, in the mesh's unit
    smoothing : weight of the roughness penalty, relative to the squared errors
    """

    samples: PoseCoordinates
    nodes: Floats
    radius: float
    smoothing: float

    @cached_property
    def _spectrum(self) -> tuple[Floats, Floats]:
        """Eigenvalues (K,) and eigenvectors (M, K) of the kernel between the nodes, without those that are rounding."""
        sizes, vectors = np.linalg.eigh(pinned_kernel(self.nodes, self.nodes, self.radius))
        kept = sizes > _SOUND * sizes.max(initial=0.0)
        return sizes[kept], vectors[:, kept]

    @cached_property
    def features(self) -> Floats:
        """(P, M) the weight of each node's value at each pose."""
        sizes, vectors = self._spectrum
        return np.asarray(pinned_kernel(self.samples.poses, self.nodes, self.radius) @ (vectors / sizes) @ vectors.T)

    @cached_property
    def operator(self) -> Floats:
        """(M, P) the matrix from values at the poses to values at the nodes."""
        sizes, vectors = self._spectrum
        cost = self.smoothing * _mean_diagonal(self.samples.poses, self.radius)
        # In the eigenbasis the roughness is diagonal. A pseudo-inverse of the stacked rows keeps the digits that
        # normal equations would lose.
        along = pinned_kernel(self.samples.poses, self.nodes, self.radius) @ (vectors / np.sqrt(sizes))
        stacked = np.vstack([along, np.sqrt(cost) * np.eye(len(sizes))])
        return np.asarray((vectors * np.sqrt(sizes)) @ np.linalg.pinv(stacked, rcond=1e-13)[:, : len(along)])

    def interpolant(self, values: Floats, at_rest: Floats | float = 0.0) -> RBFInterpolant:
        """Return the interpolant with `values` (M, C) at the nodes and `at_rest` (C,) at rest."""
        samples, (sizes, vectors) = self.samples, self._spectrum
        weights = (vectors / sizes) @ (vectors.T @ (values - at_rest))
        centres = samples.rest + np.vstack([np.zeros(self.nodes.shape[1]), self.nodes]) / samples.lengths
        # Pinned at rest: the rest pose is a centre too, and the weights of all centres sum to zero.
        constant = np.sqrt(1 + (self.nodes**2).sum(axis=1) / self.radius**2) @ weights - weights.sum(axis=0) + at_rest
        rows = np.vstack([weights.sum(axis=0), -weights, constant])
        radius = np.asarray(self.radius / samples.lengths, dtype=np.float64)
        reach = REACH * 0.5 * samples.extent / self.radius
        return RBFInterpolant("multiquadric", "euclidean", "constant", radius, centres, rows, reach)


@dataclass(frozen=True, eq=False)
class RegressionChoice:
    """The radius and smoothing of least cross-validation error.

    Parameters
    ----------
    radius, smoothing : the chosen settings of a `Regression`
    error : summed squared error of held-out poses
    plain_error : summed squares of the values themselves: the error of predicting zero
    shrink : factor from 0 to 1 on the predictions that makes `error` least
    """

    radius: float
    smoothing: float
    error: float
    plain_error: float
    shrink: float

    @property
    def relative_error(self) -> float:
        """Root of the error, after shrinking, as a fraction of plain skinning's."""
        return float(np.sqrt(self.error / self.plain_error)) if self.plain_error > 0 else 0.0

    def regression(self, samples: PoseCoordinates, most: int) -> Regression:
        """Return the regression with these settings and up to `most` nodes, spread over the poses."""
        return Regression(samples, spread_nodes(samples, most), self.radius, self.smoothing)


def pinned_kernel(points: Floats, nodes: Floats, radius: float) -> Floats:
    """Return (Q, M) multiquadrics that vanish at the origin, with the sign that makes them positive definite."""
    value = KERNELS["multiquadric"].value
    point_values, node_values = (value(np.linalg.norm(vectors, axis=1) / radius) for vectors in (points, nodes))
    return np.asarray(point_values[:, None] + node_values - value(distances(points, nodes) / radius) - 1.0)


def _mean_diagonal(points: Floats, radius: float) -> float:
    """The mean over points (P, D) of the pinned kernel of a point with itself."""
    return float((2 * np.sqrt(1 + (points**2).sum(axis=1) / radius**2) - 2).mean()) or 1.0


def spread_nodes(samples: PoseCoordinates, most: int) -> Floats:
    """Return up to `most` of the poses (M, D), each the farthest from rest and those chosen before."""
    poses = samples.poses
    gaps = np.linalg.norm(poses, axis=1)
    least = _NEAR * float(gaps.max(initial=0.0))
    return poses[spread(gaps, lambda k: np.linalg.norm(poses - poses[k], axis=1), min(most, len(poses)), least)]


def evenly_spread(count: int, most: int = SAMPLED) -> NDArray[np.int64]:
    """Return at most `most` of the indices 0 to `count` - 1, spread evenly."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(np.int64))


class CrossValidation:
    """Chooses radius and smoothing of a regression by predicting held-out runs of poses from the others.

    What depends on the poses alone is computed once and serves any number of values.

    Parameters
    ----------
    samples : the poses
    most : most poses, spread evenly, that are used
    """

    def __init__(self, samples: PoseCoordinates, most: int = SAMPLED) -> None:
        self.sampled = evenly_spread(len(samples.poses), most)
        self.samples = samples
        poses = samples.poses[self.sampled]
        self._folds = np.array_split(np.arange(len(poses)), min(FOLDS, len(poses)))
        self._kernels = []
        for radius in (fraction * samples.extent for fraction in RADII):
            sizes, vectors = np.linalg.eigh(pinned_kernel(poses, poses, radius))
            self._kernels.append((radius, np.maximum(sizes, 0.0), vectors, _mean_diagonal(poses, radius)))

    def best(self, values: Floats, exact: bool = False) -> RegressionChoice:
        """Return the best settings for values (T, K) at the `sampled` poses, e.g. their `principal_coordinates`.

        With `exact` the function passes through all values, whether that predicts held-out poses or not.
        """
        plain = float((values**2).sum())
        best = RegressionChoice(self.samples.extent, SMOOTHINGS[-1], math.inf if exact else plain, plain, 0.0)
        # The widest kernels have weights that cancel each other, which costs the digits that an exact fit needs.
        for radius, sizes, vectors, mean in self._kernels[:-1] if exact else self._kernels:
            projected = vectors.T @ values
            for smoothing in (EXACT,) if exact else SMOOTHINGS:
                damped = vectors / (sizes + smoothing * mean)
                predicted = values - _held_out_errors(damped, vectors, projected, self._folds)
                shrink = 1.0 if exact else _shrink(predicted, values)
                error = float(((shrink * predicted - values) ** 2).sum())
                if error < best.error:
                    best = RegressionChoice(radius, smoothing, error, plain, shrink)
        return best


def _held_out_errors(
    damped: Floats, vectors: Floats, projected: Floats, folds: Sequence[NDArray[np.integer]]
) -> Floats:
    """Errors (P, K) of each fold predicted from the others, in closed form from the inverse of the system."""
    weights, errors = damped @ projected, np.empty((len(damped), projected.shape[1]))
    for fold in folds:
        errors[fold] = np.linalg.solve(damped[fold] @ vectors[fold].T, weights[fold])
    return errors


def _shrink(predicted: Floats, values: Floats) -> float:
    """The factor from 0 to 1 that brings predictions nearest to the values."""
    size = float((predicted**2).sum())
    return float(np.clip((predicted * values).sum() / size, 0.0, 1.0)) if size > 0 else 0.0


def principal_coordinates(gram: Floats) -> Floats:
    """Return (P, K) coordinates of poses with the inner products `gram` (P, P).

    They stand for the poses' displacements in a cross-validation, which depends on their inner products alone.
    """
    sizes, vectors = np.linalg.eigh(gram)
    sizes = np.sqrt(np.maximum(sizes[::-1], 0.0))
    kept = sizes > _LEAST_COORDINATE * sizes[0]
    return np.asarray(vectors[:, ::-1][:, kept] * sizes[kept])
