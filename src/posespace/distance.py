"""Distances in a pose space: Euclidean, or the angles between the rotations of joints.

Choosing which controls of a pose make up the space is `spaces.py`; what is done with distances is `interpolate.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace.errors import InputError

METRICS = ("euclidean", "rotation")

# Numbers in one temporary array (8 MB): large enough to keep NumPy busy, small enough to stay near the cache.
_BLOCK = 1 << 20


def distances(
    a: ArrayLike,
    b: ArrayLike,
    metric: str = "euclidean",
    radius: float | Sequence[float] | NDArray[np.float64] = 1.0,
) -> NDArray[np.float64]:
    """Distance from each point of `a` to each point of `b`.

    Parameters
    ----------
    a : (Q, D) points of a pose space
    b : (M, D) points of the same pose space
    metric : "euclidean", or "rotation": rows are D/4 unit quaternions x y z w, one a joint, and the distance is the
        root of the sum of the squared angles (radians, each in [0, pi]) of the relative rotations; q and -q are one
    radius : a positive number, or one an axis (D for "euclidean", D/4 for "rotation"); divides each axis

    Returns
    -------
    (Q, M) float64
    """
    first, second = as_points(a, "a"), as_points(b, "b")
    if first.shape[1] != second.shape[1]:
        raise InputError(
            f"a and b must have the same number of columns, got {first.shape[1]} and {second.shape[1]}"
        )
    radii = as_radii(radius, axis_count(first.shape[1], metric))
    if metric == "rotation":
        first, second = _unit_quaternions(first), _unit_quaternions(second)
    out = np.empty((len(first), len(second)))
    for rows in blocks(len(first), second.size):
        if metric == "rotation":
            steps = _angles(first[rows], second) / radii
        else:
            steps = (first[rows, None] - second) / radii
        out[rows] = np.sqrt(np.einsum("qma,qma->qm", steps, steps))
    return out


def axis_count(columns: int, metric: str) -> int:
    """Number of axes a radius can stretch: the columns, or for "rotation" the joints (four columns each)."""
    if metric not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    if metric == "euclidean":
        return columns
    if columns % 4 or not columns:
        raise InputError(
            f"metric 'rotation' needs 4 columns a joint (quaternions x y z w), got {columns} columns"
        )
    return columns // 4


def as_points(points: ArrayLike, name: str) -> NDArray[np.float64]:
    """`points` as a float64 array (rows, columns), or an error that says what came."""
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2:
        raise InputError(f"{name} must have two dimensions (points, axes), got the shape {array.shape}")
    return array


def as_radii(radius: float | Sequence[float] | NDArray[np.float64], axes: int) -> NDArray[np.float64]:
    """One radius for each axis, (axes,) float64, from a number or one number an axis."""
    radii = np.asarray(radius, dtype=np.float64)
    if radii.shape not in ((), (axes,)):
        raise InputError(
            f"radius must be one number or one an axis ({axes} here), got the shape {radii.shape}"
        )
    if not (np.isfinite(radii).all() and (radii > 0).all()):
        raise InputError(f"radius must be finite and above 0, got {radius}")
    return np.broadcast_to(radii, (axes,)).copy()


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices that cover `rows`, each so short that a temporary of `width` numbers a row stays small."""
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, start + step)


def _unit_quaternions(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of k quaternions (N, 4k) as (N, k, 4), normalised: float32 rounding must not pass for an angle."""
    quaternions = points.reshape(len(points), -1, 4)
    lengths = np.linalg.norm(quaternions, axis=2, keepdims=True)
    if (np.abs(lengths - 1.0) > 1e-3).any():
        worst = float(lengths.flat[np.nanargmax(np.abs(lengths - 1.0))])
        raise InputError(f"metric 'rotation' needs unit quaternions x y z w, got one of length {worst:.4g}")
    return np.asarray(quaternions / lengths)


def _angles(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles (Q, M, k) between the rotations a (Q, k, 4) and b (M, k, 4).

    The chord between unit quaternions is 2 sin(angle/4). Unlike the arc cosine of their product it keeps all its digits
    for tiny angles, and with the nearer of b and -b it stays where the arc sine is well behaved.
    """
    apart, around = a[:, None] - b, a[:, None] + b
    square = np.minimum(
        np.einsum("qmki,qmki->qmk", apart, apart), np.einsum("qmki,qmki->qmk", around, around)
    )
    return 4.0 * np.arcsin(0.5 * np.sqrt(square))
