"""The metrics of pose spaces: Euclidean distance, or by the angles between the rotations of joints.

`poses/spaces.py` chooses the joints and controls of a space; the interpolators use the distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace.check import choice, floats
from posespace.errors import InputError

Array = NDArray[np.float64]
Radius = float | Sequence[float] | Array

COINCIDENT = 1e-9
"""Samples nearer than this fraction of the largest distance between samples coincide."""

METRICS = ("euclidean", "rotation")
LEAST_RADIUS = 1e-30
"""Distances over a smaller radius, cubed, would overflow double precision."""

# Numbers in one temporary array (8 MB): large enough to keep NumPy busy, small enough to stay near the cache.
_BLOCK = 1 << 20


def distances(a: ArrayLike, b: ArrayLike, metric: str = "euclidean", radius: Radius = 1.0) -> Array:
    """Distance from each point of `a` to each point of `b`.

    Parameters
    ----------
    a : (Q, D) points of a pose space
    b : (M, D) points of the same pose space
    metric : "euclidean", or "rotation": rows are D/4 unit quaternions x y z w, one per joint, and the distance is the
        root of the sum of the squared angles (radians, each in [0, π]) of the relative rotations; q and -q are one
    radius : a number above 0, or one per axis (D for "euclidean", D/4 for "rotation"); divides each axis

    Returns
    -------
    (Q, M) float64
    """
    first: Array = np.asarray(floats("a", a, ("Q", "D")), dtype=np.float64)
    second: Array = np.asarray(floats("b", b, ("M", first.shape[1])), dtype=np.float64)
    radii = radius_per_axis(radius, axis_count(first.shape[1], metric))
    if metric == "rotation":
        first, second = unit_quaternions(first), unit_quaternions(second)
    out = np.empty((len(first), len(second)))
    for rows in blocks(len(first), second.size):
        steps = _angles(first[rows], second) if metric == "rotation" else first[rows, None] - second
        steps /= radii
        out[rows] = np.sqrt(np.einsum("qma,qma->qm", steps, steps))
    return out


def closest(gaps: Array) -> tuple[int, int]:
    """Return the two points with the smallest of the distances `gaps` (M, M) between them; (0, 0) for one point."""
    apart = np.where(np.tri(len(gaps), dtype=bool), np.inf, gaps)
    return divmod(int(np.argmin(apart)), len(gaps))


def spacing(gaps: Array) -> float:
    """Return the median distance of points to the nearest other one, from the distances `gaps` (M, M) between them.

    Points that coincide are one; a single one has the spacing 1.
    """
    spread = float(gaps.max(initial=0.0)) or 1.0
    return float(np.median(np.where(gaps > COINCIDENT * spread, gaps, spread).min(axis=1)))


def axis_count(columns: int, metric: str) -> int:
    """Number of axes a radius can stretch: the columns, or for "rotation" the joints (four columns each)."""
    if choice("metric", metric, METRICS) == "euclidean":
        return columns
    if columns % 4 or not columns:
        raise InputError(f"metric 'rotation': expected 4 columns per joint (unit quaternions), got {columns} columns")
    return columns // 4


def radius_per_axis(radius: Radius, axes: int) -> Array:
    """One radius for each axis, (axes,) float64, from one number or one per axis."""
    radii = np.asarray(radius, dtype=np.float64)
    if radii.shape not in ((), (axes,)):
        raise InputError(f"radius: expected one number or one per axis ({axes} here), got shape {radii.shape}")
    if not ((radii >= LEAST_RADIUS).all() and (radii <= 1 / LEAST_RADIUS).all()):
        wanted = f"finite and above 0, from {LEAST_RADIUS:g} to {1 / LEAST_RADIUS:g}"
        raise InputError(f"radius: expected {wanted}, got {radius}")
    return np.broadcast_to(radii, (axes,)).copy()


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices that cover `rows`, each so short that a temporary of `width` numbers per row stays small."""
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, start + step)


def unit_quaternions(points: Array) -> Array:
    """Rows of k quaternions (N, 4k) as (N, k, 4), normalised: float32 rounding must not pass for an angle."""
    quaternions = points.reshape(len(points), axis_count(points.shape[1], "rotation"), 4)
    lengths = np.linalg.norm(quaternions, axis=2, keepdims=True)
    off = np.abs(lengths - 1.0)
    if (off > 1e-3).any():
        worst = lengths.flat[np.argmax(off)]
        raise InputError(f"metric 'rotation': expected unit quaternions x y z w, got one of length {worst:.4g}")
    return np.asarray(quaternions / lengths)


def _angles(a: Array, b: Array) -> Array:
    """Angles (Q, M, k) between the rotations a (Q, k, 4) and b (M, k, 4).

    The chord between unit quaternions is 2 sin(angle/4). Unlike the arc cosine of their product it keeps its digits
    for tiny angles, and to the nearer of b and -b it stays where the arc sine is well behaved.
    """
    apart, around = a[:, None] - b, a[:, None] + b
    square = np.minimum(np.einsum("qmki,qmki->qmk", apart, apart), np.einsum("qmki,qmki->qmk", around, around))
    return np.asarray(4.0 * np.arcsin(0.5 * np.sqrt(square)))
