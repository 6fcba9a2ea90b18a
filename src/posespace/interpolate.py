"""Scattered data interpolation: values at some points of a pose space give a value anywhere in it.

`Shepard` and `RBF` are settings; their `fit` returns plain arrays and strings, ready for a file, that can be called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace.distance import as_points, as_radii, axis_count, blocks, distances
from posespace.errors import InputError

Array = NDArray[np.float64]

TAILS = ("none", "constant", "linear")

# Samples nearer than this part of the largest distance between samples count as one place.
_COINCIDENT = 1e-9
# Beyond this condition number the weights of an interpolant are rounding error.
_CONDITION = 1e12
# A chosen radius keeps well below it: its weights must also survive being stored and played in float32.
_CHOSEN_CONDITION = 1e6
# A linear tail squares the condition of its columns: below this ratio of singular values the samples are flat.
_FLAT = 1e-6


class SingularError(InputError):
    """The samples do not determine an interpolant; the message names the samples and the remedy."""


class Kernel(NamedTuple):
    """A radial function: its values, the sign that makes it (conditionally) positive definite, its usual tail."""

    value: Callable[[Array], Array]
    sign: float
    tail: str
    scale_free: bool


def _thin_plate(r: Array) -> Array:
    return r * r * np.log(np.where(r > 0.0, r, 1.0))


KERNELS = {
    "gaussian": Kernel(lambda r: np.exp(-0.5 * r * r), 1.0, "none", scale_free=False),
    "exponential": Kernel(lambda r: np.exp(-r), 1.0, "none", scale_free=False),
    "multiquadric": Kernel(lambda r: np.sqrt(1.0 + r * r), -1.0, "constant", scale_free=False),
    "thin_plate": Kernel(_thin_plate, 1.0, "linear", scale_free=True),
    "linear": Kernel(lambda r: r, -1.0, "constant", scale_free=True),
    "cubic": Kernel(lambda r: r * r * r, 1.0, "linear", scale_free=True),
}


@dataclass(frozen=True, eq=False)
class _Samples:
    """Checked samples: points (M, D), values (M, C), and what is needed to name them in an error."""

    points: Array
    values: Array
    metric: str
    names: Sequence[str] | None
    flat: bool

    @classmethod
    def check(
        cls, samples: ArrayLike, values: ArrayLike, metric: str, names: Sequence[str] | None
    ) -> _Samples:
        points, array = as_points(samples, "samples"), np.asarray(values, dtype=np.float64)
        if not len(points):
            raise InputError("an interpolant needs at least 1 sample, got none")
        if array.ndim not in (1, 2) or len(array) != len(points):
            raise InputError(
                f"values must have the shape ({len(points)},) or ({len(points)}, C), got {array.shape}"
            )
        if names is not None and len(names) != len(points):
            raise InputError(f"names must be one a sample ({len(points)}), got {len(names)}")
        for title, numbers in (("samples", points), ("values", array)):
            if not np.isfinite(numbers).all():
                raise InputError(
                    f"{title} must be finite, got {np.count_nonzero(~np.isfinite(numbers))} that are not"
                )
        axis_count(points.shape[1], metric)
        return cls(points, array.reshape(len(points), -1), metric, names, array.ndim == 1)

    def name(self, index: int) -> str:
        return str(index) if self.names is None else repr(self.names[index])

    def closest(self, gaps: Array) -> tuple[int, int]:
        """The two samples with the smallest of `gaps` (M, M) between them."""
        apart = gaps + np.diag(np.full(len(gaps), np.inf))
        first, second = divmod(int(np.argmin(apart)), len(gaps))
        return min(first, second), max(first, second)

    def refuse_coincident(self, gaps: Array) -> None:
        if len(gaps) < 2:
            return
        first, second = self.closest(gaps)
        if gaps[first, second] <= _COINCIDENT * gaps.max():
            raise SingularError(
                f"samples {self.name(first)} and {self.name(second)} lie at the same place of the pose space; "
                "move or remove one"
            )


@dataclass(frozen=True, eq=False)
class ShepardInterpolant:
    """Inverse-distance weighting of samples; made by `Shepard.fit`.

    Attributes
    ----------
    metric, power : as in `Shepard`
    reach : distance below which a query takes the value of its nearest sample
    centres : (M, D) float64, the samples
    values : (M, C) or (M,) float64
    """

    metric: str
    power: float
    reach: float
    centres: Array
    values: Array

    def __call__(self, x: ArrayLike) -> Array:
        """Values (Q, C), or (Q,) if fitted to (M,), at the points x (Q, D)."""
        points = as_points(x, "x")
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


@dataclass(frozen=True)
class Shepard:
    """Shepard's interpolation: the mean of the sample values, weighted by distance to the power -`power`.

    Attributes
    ----------
    power : above 0; high powers make plateaus around the samples
    epsilon : in [0, 1); a query nearer to a sample than this part of the largest distance between samples takes
        its value exactly
    """

    power: float = 2.0
    epsilon: float = 1e-9

    def __post_init__(self) -> None:
        if not (0.0 < self.power < math.inf):
            raise InputError(f"power must be finite and above 0, got {self.power}")
        if not (0.0 <= self.epsilon < 1.0):
            raise InputError(f"epsilon must be at least 0 and below 1, got {self.epsilon}")

    def fit(
        self,
        samples: ArrayLike,
        values: ArrayLike,
        metric: str = "euclidean",
        names: Sequence[str] | None = None,
    ) -> ShepardInterpolant:
        """Interpolant of values (M, C) or (M,) at samples (M, D); `names` (M) are for errors."""
        data = _Samples.check(samples, values, metric, names)
        gaps = distances(data.points, data.points, metric)
        data.refuse_coincident(gaps)
        stored = data.values[:, 0] if data.flat else data.values
        reach = float(self.epsilon * gaps.max())
        return ShepardInterpolant(metric, float(self.power), reach, data.points.copy(), stored.copy())


@dataclass(frozen=True, eq=False)
class RBFInterpolant:
    """A sum of radial functions around the samples plus a polynomial; made by `RBF.fit`.

    Attributes
    ----------
    kernel, metric : as in `RBF`
    tail : "none", "constant" or "linear"
    radius : (A,) float64, one an axis: A = D, or the D/4 joints of the metric "rotation"
    centres : (M, D) float64, the samples
    weights : (M + T, C) or (M + T,) float64, T = 0, 1 or 1 + D by the tail: kernels, then the constant, then the
        slope along each column of x - centres[0] (for "rotation", x's quaternions signed to agree with centres[0])
    """

    kernel: str
    metric: str
    tail: str
    radius: Array
    centres: Array
    weights: Array

    def __call__(self, x: ArrayLike) -> Array:
        """Values (Q, C), or (Q,) if fitted to (M,), at the points x (Q, D)."""
        points = as_points(x, "x")
        out = np.empty((len(points), *self.weights.shape[1:]))
        count = len(self.centres)
        for rows in blocks(len(points), len(self.weights)):
            gaps = distances(points[rows], self.centres, self.metric, self.radius)
            out[rows] = KERNELS[self.kernel].value(gaps) @ self.weights[:count]
            out[rows] += (
                _tail_columns(points[rows], self.centres[0], self.tail, self.metric) @ self.weights[count:]
            )
        return out


@dataclass(frozen=True)
class RBF:
    """Radial basis functions of r = distance / radius.

    Attributes
    ----------
    kernel : "gaussian" exp(-r²/2), "exponential" exp(-r), "multiquadric" √(1+r²), "thin_plate" r² log r,
        "linear" r or "cubic" r³
    radius : a number above 0; one an axis (axis-stretched falloff); or None: chosen. The gaussian, exponential and
        multiquadric then get the radius of least leave-one-out error, between half the spacing of the samples and
        four times their largest distance, as far as the system stays well conditioned; fewer than 3 samples say
        nothing about it and get their spacing. One radius for all axes changes nothing for linear, cubic and (with
        its linear tail, Euclidean) thin_plate except the unit of `smoothing`: None then is the largest distance
    tail : polynomial added to the kernels: None, "constant", "linear", or "auto": none for gaussian and exponential,
        so that they fall to zero far away; constant for linear and multiquadric; linear for thin_plate and cubic,
        or constant where the samples are too few or too flat for a linear tail
    smoothing : at least 0, added to the diagonal of the system; 0 passes through the samples, more comes less near
    """

    kernel: str = "gaussian"
    radius: float | Sequence[float] | Array | None = None
    tail: str | None = "auto"
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise InputError(f"kernel must be one of {', '.join(KERNELS)}, got {self.kernel!r}")
        if self.tail not in ("auto", None, "constant", "linear"):
            raise InputError(f"tail must be 'auto', None, 'constant' or 'linear', got {self.tail!r}")
        if not (0.0 <= self.smoothing < math.inf):
            raise InputError(f"smoothing must be finite and at least 0, got {self.smoothing}")
        if self.radius is not None:
            checked = as_radii(self.radius, np.size(self.radius))
            # A tuple keeps the settings hashable and out of reach of a later write to the caller's array.
            object.__setattr__(
                self, "radius", tuple(map(float, checked)) if np.ndim(self.radius) else float(checked[0])
            )

    def fit(
        self,
        samples: ArrayLike,
        values: ArrayLike,
        metric: str = "euclidean",
        names: Sequence[str] | None = None,
    ) -> RBFInterpolant:
        """Interpolant of values (M, C) or (M,) at samples (M, D); `names` (M) are for errors."""
        data = _Samples.check(samples, values, metric, names)
        system, radius, tail, units = _system(self, data)
        weights = system.solve(data.values) / units[:, None]
        stored = weights[:, 0] if data.flat else weights
        return RBFInterpolant(self.kernel, metric, tail, radius, data.points.copy(), stored.copy())

    def leave_one_out(
        self,
        samples: ArrayLike,
        values: ArrayLike,
        metric: str = "euclidean",
        names: Sequence[str] | None = None,
    ) -> Array:
        """Each value less what the interpolant of all other samples gives there: (M, C) or (M,), as the values.

        In closed form, from one system (Rippa 1999); radius and tail are those of the fit to all samples.
        """
        data = _Samples.check(samples, values, metric, names)
        errors = _system(self, data)[0].leave_one_out(data.values)
        undefined = np.flatnonzero(np.isnan(errors).any(axis=1))
        if len(undefined):
            raise SingularError(
                f"without sample {data.name(int(undefined[0]))} the others do not determine an interpolant; "
                "use a lower tail or more samples"
            )
        return errors[:, 0] if data.flat else errors


class _System(NamedTuple):
    """The symmetric system of an RBF, tail included, (M + T, M + T), its entries brought to about 1, and its inverse."""

    matrix: Array
    inverse: Array
    condition: float
    unit: float
    count: int

    @classmethod
    def build(cls, kernel: str, gaps: Array, columns: Array, smoothing: float) -> _System:
        """From distances over radius (M, M) and the columns of the tail (M, T); `unit` divides the kernels' weights."""
        count, size = len(gaps), len(gaps) + columns.shape[1]
        block = KERNELS[kernel].value(gaps)
        block.flat[:: count + 1] += KERNELS[kernel].sign * smoothing
        # Cubes of distances in degrees beside a column of ones would look singular without this.
        unit = float(np.abs(block).max()) or 1.0
        matrix = np.zeros((size, size))
        matrix[:count, :count] = block / unit
        matrix[:count, count:] = columns
        matrix[count:, :count] = columns.T
        try:
            inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            return cls(matrix, np.zeros_like(matrix), math.inf, unit, count)
        return cls(
            matrix, inverse, float(np.linalg.norm(matrix, 1) * np.linalg.norm(inverse, 1)), unit, count
        )

    def solve(self, values: Array) -> Array:
        """Solution (M + T, C) for the values (M, C)."""
        right = np.zeros((len(self.matrix), values.shape[1]))
        right[: self.count] = values
        solution = self.inverse @ right
        # An inverse alone leaves a residual that grows with the condition number; one refinement removes it.
        return np.asarray(solution + self.inverse @ (right - self.matrix @ solution))

    def leave_one_out(self, values: Array) -> Array:
        """Leave-one-out errors (M, C) for the values (M, C); a row is NaN where the other samples are too few.

        Changing value i until its kernel has no weight gives the fit without sample i, tail and smoothing included;
        the change needed is weight i over entry i of the inverse's diagonal.
        """
        diagonal = np.diag(self.inverse)[: self.count].copy()
        diagonal[np.abs(diagonal) < 1e-12 * np.abs(self.inverse).max()] = np.nan
        return np.asarray(self.solve(values)[: self.count] / diagonal[:, None])


def _system(settings: RBF, data: _Samples) -> tuple[_System, Array, str, Array]:
    """The system of `settings` on the samples, its radius (A,), its tail and the unit (M + T,) of each weight."""
    axes = axis_count(data.points.shape[1], data.metric)
    radius = as_radii(1.0 if settings.radius is None else settings.radius, axes)
    gaps = distances(data.points, data.points, data.metric, radius)
    if settings.smoothing == 0.0:
        data.refuse_coincident(gaps)
    tail = _choose_tail(settings, data)
    columns, extents = _scaled_tail(data.points, tail, data.metric)
    if settings.radius is None:
        chosen = _choose_radius(settings, gaps, columns, data.values)
        radius, gaps = radius * chosen, gaps / chosen
    system = _System.build(settings.kernel, gaps, columns, settings.smoothing)
    if system.condition > _CONDITION:
        raise SingularError(_singular_message(settings, data, gaps, radius, system.condition))
    return system, radius, tail, np.concatenate([np.full(len(gaps), system.unit), extents])


def _singular_message(settings: RBF, data: _Samples, gaps: Array, radius: Array, condition: float) -> str:
    if len(gaps) < 2:
        return f"kernel {settings.kernel!r} cannot interpolate one sample without a tail; use tail='constant'"
    first, second = data.closest(gaps)
    if KERNELS[settings.kernel].scale_free:
        remedy = "move or remove one, or set smoothing above 0"
        if settings.tail != "auto":
            remedy += ", or use tail='auto'"
    else:
        remedy = f"use a radius below {radius.max():.3g}, move or remove one, or set smoothing above 0"
    return (
        f"the system of kernel {settings.kernel!r} is close to singular (condition {condition:.1e}); its closest "
        f"samples are {data.name(first)} and {data.name(second)}: {remedy}"
    )


def _tail_columns(points: Array, origin: Array, tail: str, metric: str) -> Array:
    """Polynomial terms (Q, T) at the points (Q, D): nothing, ones, or ones and the coordinates from `origin` (D,)."""
    if tail != "linear":
        return np.ones((len(points), TAILS.index(tail)))
    if metric == "rotation":
        quaternions = points.reshape(len(points), -1, 4)
        agree = np.einsum("qki,ki->qk", quaternions, origin.reshape(-1, 4))
        points = np.where(agree[..., None] < 0.0, -quaternions, quaternions).reshape(points.shape)
    return np.column_stack([np.ones(len(points)), points - origin])


def _scaled_tail(points: Array, tail: str, metric: str) -> tuple[Array, Array]:
    """Columns of the tail (M, T) at the samples, each with largest entry 1, and what they were divided by (T,)."""
    columns = _tail_columns(points, points[0], tail, metric)
    extents = np.abs(columns).max(axis=0)
    extents[extents == 0.0] = 1.0
    return columns / extents, extents


def _choose_tail(settings: RBF, data: _Samples) -> str:
    tail = KERNELS[settings.kernel].tail if settings.tail == "auto" else settings.tail or "none"
    if tail != "linear":
        return tail
    columns = _scaled_tail(data.points, tail, data.metric)[0]
    if len(columns) >= columns.shape[1]:
        singular = np.linalg.svd(columns, compute_uv=False)
        if singular[-1] > _FLAT * singular[0]:
            return tail
    if settings.tail == "auto":
        return "constant"
    raise SingularError(
        f"tail 'linear' needs samples that span all {columns.shape[1] - 1} coordinates of the pose space, and these "
        f"{len(columns)} do not; use tail='constant' or add samples off their common line or plane"
    )


def _choose_radius(settings: RBF, gaps: Array, columns: Array, values: Array) -> float:
    """One radius for all axes, from the distances (M, M) between the samples."""
    spread = float(gaps.max()) or 1.0
    if settings.kernel == "thin_plate" and columns.shape[1] < 2:
        # Without its linear tail r² log r needs all distances far below 1: near 1, its zero, the system is singular.
        return 100.0 * spread
    if KERNELS[settings.kernel].scale_free:
        return spread
    apart = np.where(gaps > _COINCIDENT * spread, gaps, np.inf).min(axis=1)
    spacing = float(np.median(apart)) if np.isfinite(apart).all() else spread
    if len(gaps) < 3:
        return spacing
    # The sum of squared errors over many columns is that over the rows of their triangular factor.
    if values.shape[1] > len(values):
        values = np.linalg.qr(values.T, mode="r").T

    def score(radius: float) -> float:
        system = _System.build(settings.kernel, gaps / radius, columns, settings.smoothing)
        if system.condition > _CHOSEN_CONDITION:
            return math.inf
        error = float(np.sum(system.leave_one_out(values) ** 2))
        return error if math.isfinite(error) else math.inf

    return _least(score, 0.5 * spacing, 4.0 * spread) or spacing


def _least(score: Callable[[float], float], low: float, high: float) -> float | None:
    """Where in [low, high] the score is least, to about one percent; None if it is the same or infinite everywhere."""
    best = None
    for _ in range(3):
        candidates = np.geomspace(low, high, 16)
        scores = np.array([score(float(candidate)) for candidate in candidates])
        finite = scores[np.isfinite(scores)]
        if not len(finite) or np.ptp(finite) <= 1e-12 * finite.max():
            break
        index = int(np.argmin(scores))
        best = float(candidates[index])
        low, high = candidates[max(index - 1, 0)], candidates[min(index + 1, len(candidates) - 1)]
    return best
