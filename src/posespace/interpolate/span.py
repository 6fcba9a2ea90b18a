"""The span of samples: the directions of a pose space in which samples differ from the first one.

A function that grows with distance would also grow in directions in which no sample varies. It is called at the nearest
point of the span instead, so it is constant along those directions.
"""

from __future__ import annotations

import numpy as np

from posespace.geometry.rotations import inverse, multiply, same_side
from posespace.interpolate.distances import Array, distances

_SPREADS = (0.05, 1e-3)
"""Samples vary along a direction if they spread by this fraction of their largest spread; the second fraction is used
if the first would bring samples together that are apart."""

_APART = 0.5

LONGEST = 1.0 - 1e-6
"""The longest axis of a rotation, just below a half turn, where opposite axes give the same rotation."""


def span_of(points: Array, metric: str, radius: Array) -> Array | None:
    """Return (K, A) orthonormal directions that the samples (M, D) span from the first one; None where these are all.

    A is D, over the `radius` (D,); for the metric "rotation" three per joint.
    """
    offsets = relative(points, points[0], metric, radius)
    _, sizes, rows = np.linalg.svd(offsets, full_matrices=False)
    largest = float(sizes.max(initial=0.0))
    before = distances(points, points, metric, radius)
    for spread in _SPREADS:
        span = rows[sizes > spread * largest] if largest > 0 else rows[:0]
        after = distances(*2 * (onto_span(points, points[0], span, metric, radius),), metric, radius)
        if (after >= _APART * before).all():
            break
    return None if len(span) == offsets.shape[1] else span


def onto_span(points: Array, origin: Array, span: Array, metric: str, radius: Array) -> Array:
    """Return the nearest points (Q, D) to others in the span (K, A) of samples, the first of which is `origin` (D,)."""
    along = relative(points, origin, metric, radius) @ span.T @ span
    if metric != "rotation":
        return np.asarray(origin + along * radius)
    axes = along.reshape(len(points), -1, 3)
    # Projecting several joints together may give more than a half turn of one of them.
    axes = axes / np.maximum(np.linalg.norm(axes, axis=2, keepdims=True) / LONGEST, 1.0)
    real = np.sqrt(np.maximum(1.0 - np.square(axes).sum(axis=2, keepdims=True), 0.0))
    rotated = multiply(origin.reshape(-1, 4), np.concatenate([axes, real], axis=2))
    return np.asarray(rotated.reshape(points.shape), dtype=np.float64)


def relative(points: Array, origin: Array, metric: str, radius: Array) -> Array:
    """Return (Q, A) the offsets of points (Q, D) from `origin` (D,).

    Of a rotation these are the x, y and z of its quaternion: its axis, as long as the sine of half its angle. That goes
    to the same limit from both sides of a half turn, where the angle jumps.
    """
    if metric != "rotation":
        return np.asarray((points - origin) / radius)
    offsets = multiply(inverse(origin.reshape(-1, 4)), points.reshape(len(points), -1, 4))
    return np.asarray(same_side(offsets)[..., :3].reshape(len(points), -1), dtype=np.float64)
