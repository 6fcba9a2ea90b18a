"""Interpolants: fitted interpolators, as plain arrays and strings, to be called at points of a pose space.

`rbf.py` and `shepard.py` make them; a program that only plays a skin never loads those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import choice, floats
from posespace.errors import InputError
from posespace.interpolate.distances import (
    LEAST_RADIUS,
    METRICS,
    Array,
    axis_count,
    blocks,
    distances,
    radius_per_axis,
    unit_quaternions,
)
from posespace.interpolate.kernels import KERNELS, TAILS
from posespace.interpolate.span import onto_span

# Largest coordinates and weights with which sums stay within double precision: distances over the smallest radius,
# cubed, times weights, which cancel one another and may be far larger than the values; and plain distances, squared.
_FARTHEST, _MOST_WEIGHT, _FARTHEST_SHEPARD = 1e35, 1e90, 1e120


@dataclass(frozen=True, eq=False)
class ShepardInterpolant:
    """Inverse-distance weighting of samples; made by `Shepard.fit`.

    Attributes
    ----------
    metric, power : as given
    reach : distance up to which a query takes the value of its nearest sample
    centres : (M, D) float64, the samples
    values : (M, C) or (M,) float64
    """

    metric: str
    power: float
    reach: float
    centres: Array
    values: Array

    def __post_init__(self) -> None:
        samples = _checked(self, self.centres, self.metric, _FARTHEST_SHEPARD)
        if not (0.0 < self.power < math.inf and 0.0 <= self.reach < math.inf):
            raise InputError(f"power and reach: expected above 0 and at least 0, got {self.power} and {self.reach}")
        shape = (samples, "C")[: max(1, np.ndim(self.values))]
        object.__setattr__(self, "values", floats("interpolant values", self.values, shape, _MOST_WEIGHT))

    @property
    def columns(self) -> int:
        """The number of values at a point."""
        return 1 if self.flat else int(self.values.shape[1])

    @property
    def flat(self) -> bool:
        """Whether it was fitted to (M,) and gives (Q,)."""
        return self.values.ndim == 1

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (Q, C), or (Q,) if fitted to (M,), at the points x (Q, D)."""
        points = floats("x", x, ("Q", self.centres.shape[1]))
        out = np.empty((len(points), *self.values.shape[1:]))
        for rows in blocks(len(points), len(self.centres)):
            gaps = distances(points[rows], self.centres, self.metric)
            nearest = np.argmin(gaps, axis=1)
            least = np.take_along_axis(gaps, nearest[:, None], axis=1)
            # Ratios to the nearest distance lie in [0, 1], so that no power overflows.
            weights = np.divide(least, gaps, out=np.ones_like(gaps), where=gaps > 0.0) ** self.power
            close = least[:, 0] <= self.reach
            weights[close] = np.arange(len(self.centres)) == nearest[close, None]
            out[rows] = (weights / weights.sum(axis=1, keepdims=True)) @ self.values
        return out


@dataclass(frozen=True, eq=False)
class RBFInterpolant:
    """A sum of radial functions around the samples plus a polynomial; made by `RBF.fit`.

    Attributes
    ----------
    kernel, metric : as given
    tail : "none", "constant" or "linear"
    radius : (A,) float64, one per axis: A = D, or the D/4 joints of the metric "rotation"
    centres : (M, D) float64, the samples
    weights : (M + T, C) or (M + T,) float64, T = 0, 1 or 1 + D by the tail: of the kernels, of the constant, then of
        each column of x - centres[0] (for "rotation", with x's quaternions signed to agree with centres[0])
    reach : distance from centres[0], over the radius, up to which the function changes: a point farther off has the
        value at that distance in the same direction, so that values far from all samples stay bounded
    span : (K, A) float64, the directions from centres[0] in which it varies, see `span`; None: all
    """

    kernel: str
    metric: str
    tail: str
    radius: Array
    centres: Array
    weights: Array
    reach: float = math.inf
    span: Array | None = None

    def __post_init__(self) -> None:
        samples = _checked(self, self.centres, self.metric, _FARTHEST)
        if not self.reach >= LEAST_RADIUS:
            raise InputError(f"interpolant reach: expected above 0, from {LEAST_RADIUS:g}, got {self.reach}")
        choice("kernel", self.kernel, tuple(KERNELS))
        choice("tail", self.tail, TAILS)
        dimensions = self.centres.shape[1]
        object.__setattr__(self, "radius", radius_per_axis(self.radius, axis_count(dimensions, self.metric)))
        rows = samples + {"none": 0, "constant": 1, "linear": 1 + dimensions}[self.tail]
        shape = (rows, "C")[: max(1, np.ndim(self.weights))]
        object.__setattr__(self, "weights", floats("interpolant weights", self.weights, shape, _MOST_WEIGHT))
        if self.span is not None:
            axes = 3 * len(self.radius) if self.metric == "rotation" else dimensions
            object.__setattr__(self, "span", _directions(self.span, samples, axes))

    @property
    def columns(self) -> int:
        """The number of values at a point."""
        return 1 if self.flat else int(self.weights.shape[1])

    @property
    def flat(self) -> bool:
        """Whether it was fitted to (M,) and gives (Q,)."""
        return self.weights.ndim == 1

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (Q, C), or (Q,) if fitted to (M,), at the points x (Q, D)."""
        points = np.asarray(floats("x", x, ("Q", self.centres.shape[1])), dtype=np.float64)
        out = np.empty((len(points), *self.weights.shape[1:]))
        count = len(self.centres)
        if self.span is not None:
            points = onto_span(points, self.centres[0], self.span, self.metric, self.radius)
        points = self._within_reach(points)
        for rows in blocks(len(points), len(self.weights)):
            gaps = distances(points[rows], self.centres, self.metric, self.radius)
            out[rows] = KERNELS[self.kernel].value(gaps) @ self.weights[:count]
            out[rows] += tail_columns(points[rows], self.centres[0], self.tail, self.metric) @ self.weights[count:]
        return out

    def with_reach(self, factor: float) -> RBFInterpolant:
        """Return the same function with a reach of `factor` times the largest distance of a sample from the first."""
        farthest = float(distances(self.centres, self.centres[:1], self.metric, self.radius).max())
        return replace(self, reach=factor * farthest if farthest > 0.0 else math.inf)

    def _within_reach(self, points: Array) -> Array:
        if self.reach == math.inf:
            return points
        if self.metric == "rotation":
            ratio = distances(points, self.centres[:1], self.metric, self.radius) / self.reach
            return slerp_from(points, self.centres[0], 1.0 / np.maximum(ratio, 1.0))
        offsets = points - self.centres[0]
        ratio = np.linalg.norm(offsets / self.radius, axis=1, keepdims=True) / self.reach
        return np.asarray(np.where(ratio > 1.0, self.centres[0] + offsets / np.maximum(ratio, 1.0), points))


def slerp_from(points: Array, origin: Array, fraction: Array) -> Array:
    """Return the rotations at a `fraction` (Q, 1), 0 to 1, from those of `origin` (4k,) to `points` (Q, 4k)."""
    ends, starts = points.reshape(len(points), -1, 4), origin.reshape(-1, 4)
    cosine = np.einsum("qki,ki->qk", ends, starts)
    ends = np.where(cosine[..., None] < 0.0, -ends, ends)
    angle = np.arccos(np.minimum(np.abs(cosine), 1.0))[..., None]
    sine, share = np.sin(angle), fraction[..., None]
    differs = sine > 1e-9
    divisor = np.where(differs, sine, 1.0)
    start_weight, end_weight = np.sin((1.0 - share) * angle) / divisor, np.sin(share * angle) / divisor
    mixed = np.where(differs, start_weight * starts + end_weight * ends, ends).reshape(points.shape)
    return np.asarray(np.where(fraction < 1.0, mixed, points))


def tail_columns(points: Array, origin: Array, tail: str, metric: str) -> Array:
    """Terms (Q, T) of the tail at the points (Q, D): none, ones, or ones and the coordinates from `origin` (D,)."""
    if tail != "linear":
        return np.ones((len(points), TAILS.index(tail)))
    if metric == "rotation":
        quaternions = points.reshape(len(points), -1, 4)
        agree = np.einsum("qki,ki->qk", quaternions, origin.reshape(-1, 4))
        points = np.where(agree[..., None] < 0.0, -quaternions, quaternions).reshape(points.shape)
    return np.column_stack([np.ones(len(points)), points - origin])


def _directions(span: ArrayLike, samples: int, axes: int) -> Array:
    """Check the span of samples: orthonormal rows, not more than there are samples."""
    rows = np.asarray(floats("interpolant span", span, ("K", axes), 2.0), dtype=np.float64)
    if len(rows) > min(samples, axes) or np.abs(rows @ rows.T - np.eye(len(rows))).max(initial=0.0) > 1e-6:
        raise InputError(f"interpolant span: expected at most {min(samples, axes)} orthonormal rows, got {len(rows)}")
    return rows


def _checked(interpolant: ShepardInterpolant | RBFInterpolant, centres: ArrayLike, metric: str, most: float) -> int:
    """Check the samples of an interpolant, which may come from a file, and return how many there are."""
    samples = floats("interpolant centres", centres, ("M", "D"), most)
    if not samples.size:
        raise InputError(f"interpolant centres: expected at least one sample, got shape {samples.shape}")
    if choice("metric", metric, METRICS) == "rotation":
        unit_quaternions(samples.astype(np.float64))
    object.__setattr__(interpolant, "centres", samples)
    return len(samples)
