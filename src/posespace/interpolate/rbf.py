"""Radial basis functions: the settings, the system they are solved by, and the choice of radius and tail."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from posespace.check import choice, number
from posespace.errors import InputError
from posespace.interpolate.distances import Array, Radius, axis_count, closest, distances, radius_per_axis, spacing
from posespace.interpolate.fitted import RBFInterpolant, tail_columns
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.samples import Samples, SingularError
from posespace.interpolate.span import onto_span, span_of

# Beyond this condition number the weights of an interpolant are mostly rounding error.
_CONDITION = 1e12
# A chosen radius keeps well below it if it can: its weights must survive being stored and played in float32.
_CHOSEN_CONDITION = 1e8
# A linear tail squares the condition of its columns: below this ratio of singular values the samples are flat.
_FLAT = 1e-6
# A tail that is chosen has a slope only along directions in which the samples spread by this fraction of their largest
# spread. What lies off their span is gone already: the rest are the curves that rotations about one axis lie on.
_SPREAD = 1e-3


@dataclass(frozen=True)
class RBF:
    """Radial basis functions of r = distance / radius.

    Attributes
    ----------
    kernel : "gaussian" exp(-r²/2), "exponential" exp(-r), "multiquadric" √(1+r²), "thin_plate" r² log r, "linear" r
        or "cubic" r³
    radius : of a sample's influence: a number above 0; one per axis; or None: chosen. Gaussian, exponential and
        multiquadric then get the radius of least leave-one-out error, from half the spacing of the samples to four
        times their largest distance, as far as the system stays well conditioned; fewer than 3 samples get
        their spacing. A radius common to all axes does not change linear, cubic or (Euclidean, with
        its linear tail) thin_plate, only the effect of `smoothing`: None is then the largest distance between samples,
        or 100 times it for thin_plate without a linear tail, whose system is sound only for r far below 1
    tail : polynomial added to the kernels: None, "constant", "linear", or "auto": none for gaussian and exponential,
        so that they go to zero far away; constant for linear and multiquadric; linear for thin_plate and cubic, where
        samples are few or flat only in the directions that they span
    smoothing : at least 0, strengthens the diagonal of the system; 0 passes through the samples, more passes near them
    """

    kernel: str = "gaussian"
    radius: Radius | None = None
    tail: str | None = "auto"
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        choice("kernel", self.kernel, tuple(KERNELS))
        if self.tail not in ("auto", None, "constant", "linear"):
            raise InputError(f"tail: expected 'auto', None, 'constant' or 'linear', got {self.tail!r}")
        if not 0.0 <= number("smoothing", self.smoothing) < math.inf:
            raise InputError(f"smoothing: expected finite and at least 0, got {self.smoothing}")
        if self.radius is not None:
            radii = radius_per_axis(self.radius, np.size(self.radius)).tolist()
            # A tuple keeps the settings hashable and apart from the caller's array.
            object.__setattr__(self, "radius", tuple(radii) if np.ndim(self.radius) else radii[0])

    def fit(
        self,
        samples: ArrayLike,
        values: ArrayLike,
        metric: str = "euclidean",
        names: Sequence[str] | None = None,
        origin: int = 0,
    ) -> RBFInterpolant:
        """Return the interpolant of values (M, C) or (M,) at samples (M, D).

        `names` (M) are for errors. Sample `origin` comes first: reach, span and tail are measured from it.
        """
        data = Samples.check(samples, values, metric, names, origin)
        system = _system(self, data)
        tail, solved, count = system.tail, system.matrix.solve(data.values), len(data.points)
        weights = data.as_given(np.concatenate([solved[:count] / system.matrix.unit, tail.to_weights @ solved[count:]]))
        return RBFInterpolant(self.kernel, metric, tail.name, system.radius, system.points, weights, span=system.span)

    def leave_one_out(
        self,
        samples: ArrayLike,
        values: ArrayLike,
        metric: str = "euclidean",
        names: Sequence[str] | None = None,
        origin: int = 0,
    ) -> Array:
        """Return the leave-one-out errors: each value less that of the interpolant of the other samples there.

        In closed form, from one system (Rippa 1999); radius, span and tail are those of the fit to all samples.
        """
        data = Samples.check(samples, values, metric, names, origin)
        errors = data.in_given_order(_system(self, data).matrix.leave_one_out(data.values))
        undefined = np.flatnonzero(np.isnan(errors).any(axis=1))
        if len(undefined):
            raise SingularError(
                f"without sample {data.name(int(undefined[0]))} the others do not determine the interpolant; "
                "use a lower tail or more samples"
            )
        return data.as_given(errors)


class _Matrix(NamedTuple):
    """The symmetric system of an RBF and its tail, (M + T, M + T), scaled to entries of about 1, and its inverse."""

    matrix: Array
    inverse: Array
    condition: float
    unit: float
    samples: int

    @classmethod
    def build(cls, kernel: str, gaps: Array, tail: Array, smoothing: float) -> _Matrix:
        """From distances over radius (M, M) and the columns of the tail (M, T); `unit` divides the kernels' weights."""
        block = KERNELS[kernel].value(gaps)
        block.flat[:: len(gaps) + 1] += KERNELS[kernel].sign * smoothing
        # Cubes of distances in degrees next to a column of ones would look singular without this.
        unit = float(np.abs(block).max()) or 1.0
        matrix = np.block([[block / unit, tail], [tail.T, np.zeros((tail.shape[1], tail.shape[1]))]])
        try:
            inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            return cls(matrix, np.zeros_like(matrix), math.inf, unit, len(gaps))
        condition = float(np.linalg.norm(matrix, 1) * np.linalg.norm(inverse, 1))
        return cls(matrix, inverse, condition, unit, len(gaps))

    def solve(self, values: Array) -> Array:
        """Solution (M + T, C) for the values (M, C)."""
        right = np.zeros((len(self.matrix), values.shape[1]))
        right[: self.samples] = values
        solution = self.inverse @ right
        # A product with an inverse leaves a residual that grows with the condition; one refinement removes it.
        return np.asarray(solution + self.inverse @ (right - self.matrix @ solution))

    def leave_one_out(self, values: Array) -> Array:
        """Leave-one-out errors (M, C) for the values (M, C); a row is NaN where the other samples are too few.

        Changing value i until its kernel has no weight gives the fit without sample i, tail and smoothing included;
        the change this takes is weight i over entry i of the inverse's diagonal.
        """
        diagonal = np.diag(self.inverse)[: self.samples].copy()
        # Without sample i the inverse has entries of about this size over entry i (Schur complement).
        largest = np.abs(self.inverse[: self.samples]).max(axis=1) ** 2
        diagonal[np.abs(diagonal) * _CONDITION <= largest] = np.nan
        return np.asarray(self.solve(values)[: self.samples] / diagonal[:, None])


class _System(NamedTuple):
    """The linear system of the weights: matrix, radius (A,), tail, span, and the samples (M, D) in the span."""

    matrix: _Matrix
    radius: Array
    tail: _Tail
    span: Array | None
    points: Array


def _system(settings: RBF, data: Samples) -> _System:
    """The system of `settings` on the samples."""
    axes = axis_count(data.points.shape[1], data.metric)
    radius = radius_per_axis(1.0 if settings.radius is None else settings.radius, axes)
    gaps = distances(data.points, data.points, data.metric, radius)
    if settings.smoothing == 0.0:
        data.check_apart(gaps)
    # Only these kernels grow with distance without end.
    grows = settings.tail == "auto" and KERNELS[settings.kernel].tail == "linear"
    span, points = span_of(data.points, data.metric, radius) if grows else None, data.points
    if span is not None:
        points = onto_span(points, points[0], span, data.metric, radius)
        gaps = distances(points, points, data.metric, radius)
    tail = _tail_of(settings, points, data.metric, radius)
    if settings.radius is None:
        chosen = _choose_radius(settings, gaps, tail.columns, data.values)
        radius, gaps = radius * chosen, gaps / chosen
    matrix = _Matrix.build(settings.kernel, gaps, tail.columns, settings.smoothing)
    if not matrix.condition <= _CONDITION:
        raise SingularError(_singular_message(settings, data, gaps, radius, matrix.condition))
    return _System(matrix, radius, tail, span, points)


def _singular_message(settings: RBF, data: Samples, gaps: Array, radius: Array, condition: float) -> str:
    if len(gaps) < 2:
        return f"kernel {settings.kernel!r} cannot interpolate one sample without a tail; use tail='constant'"
    first, second = map(data.name, closest(gaps))
    remedy = "" if settings.tail == "auto" else "use tail='auto', "
    if not KERNELS[settings.kernel].scale_free:
        remedy = f"use a radius below {radius.max():.3g}, "
    return (
        f"the system of kernel {settings.kernel!r} is close to singular (condition {condition:.1e}); its closest "
        f"samples are {first} and {second}: {remedy}move or remove one, or set smoothing above 0"
    )


class _Tail(NamedTuple):
    """The tail's name, its columns (M, U) at the samples, and the matrix (T, U) from their weights to the tail's T.

    There may be fewer columns than weights: where samples are flat, only in the directions that they span.
    """

    name: str
    columns: Array
    to_weights: Array


def _tail_of(settings: RBF, points: Array, metric: str, radius: Array) -> _Tail:
    """The tail of the settings, scaled to entries of at most about 1; `radius` (A,) makes the axes comparable."""
    name = KERNELS[settings.kernel].tail if settings.tail == "auto" else settings.tail or "none"
    columns = tail_columns(points, points[0], name, metric)
    if name != "linear":
        return _Tail(name, columns, np.eye(columns.shape[1]))
    units = np.repeat(radius, (columns.shape[1] - 1) // len(radius))
    # One unit for all axes: rounding noise along one of them, scaled up to 1, would pass for a direction.
    units = units * (float(np.abs(columns[:, 1:] / units).max()) or 1.0)
    scaled = columns[:, 1:] / units
    _, sizes, rows = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)
    least = (_SPREAD if settings.tail == "auto" else _FLAT) * max(float(sizes.max(initial=0.0)), 1e-300)
    spanned = rows[sizes > least].T
    if settings.tail != "auto" and spanned.shape[1] < len(units):
        raise SingularError(
            f"tail 'linear' needs samples that span all {len(units)} coordinates of the pose space, and "
            f"these {len(columns)} do not; use tail='constant' or add samples off their common line or plane"
        )
    to_weights = np.zeros((len(units) + 1, spanned.shape[1] + 1))
    to_weights[0, 0], to_weights[1:, 1:] = 1.0, spanned / units[:, None]
    return _Tail(name, np.column_stack([columns[:, 0], scaled @ spanned]), to_weights)


def _choose_radius(settings: RBF, gaps: Array, columns: Array, values: Array) -> float:
    """One radius for all axes, from the distances (M, M) between the samples."""
    spread = float(gaps.max()) or 1.0
    if KERNELS[settings.kernel].scale_free:
        # The zero of r² log r at r = 1 can make its system singular; far below, it acts as a linear tail would.
        return 100.0 * spread if settings.kernel == "thin_plate" and columns.shape[1] < 2 else spread
    typical = spacing(gaps)
    if len(gaps) < 3:
        return typical
    if values.shape[1] > len(values):
        # The triangular factor has the same sum of squared errors in far fewer columns.
        values = np.asarray(np.linalg.qr(values.T, mode="r")).T

    def score(radius: float, limit: float) -> float:
        system = _Matrix.build(settings.kernel, gaps / radius, columns, settings.smoothing)
        return float(np.nansum(system.leave_one_out(values) ** 2)) if system.condition < limit else math.inf

    strict, lenient = partial(score, limit=_CHOSEN_CONDITION), partial(score, limit=_CONDITION)
    low, high = 0.5 * typical, 4.0 * spread
    return _least(strict, low, high) or _least(lenient, low, high) or typical


def _least(score: Callable[[float], float], low: float, high: float) -> float | None:
    """Where in [low, high] the score is least, to about one percent; None if it is the same everywhere."""
    best = None
    for _ in range(3):
        candidates = np.geomspace(low, high, 17)
        scores = np.array([score(float(candidate)) for candidate in candidates])
        index = int(np.argmin(scores))
        if scores[index] >= (1.0 - 1e-12) * scores.max():
            break
        best = float(candidates[index])
        low, high = candidates[max(index - 1, 0)], candidates[min(index + 1, len(candidates) - 1)]
    return best
