"""The rigid motion that brings some points nearest to others."""

from __future__ import annotations

import numpy as np

from posespace import rotations
from posespace.check import Floats

_FLAT = 1e-3
"""Points spread less than this across a line, as a fraction of their spread along it, leave a turn about it open."""


def rigid(source: Floats, target: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the rotations (..., 4) and shifts (..., 3) that bring points nearest to others.

    `source` and `target` are (..., M, 3). `weights` (..., M) say how much each point counts; at least one of them is above zero.
    """
    share = weights / weights.sum(axis=-1, keepdims=True)
    here, there = (np.einsum("...m,...mi->...i", share, points) for points in (source, target))
    spread = np.einsum(
        "...m,...mi,...mj->...ij", share, target - there[..., None, :], source - here[..., None, :], optimize=True
    )
    turn = rotations.polar(spread)[0]
    return turn, there - np.einsum("...ij,...j->...i", rotations.matrices(turn), here)


def spans_plane(points: Floats, weights: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return (...) whether the points (..., M, 3) with weights (..., M) above zero are three or more off one line."""
    total = weights.sum(axis=-1, keepdims=True)
    share = weights / np.where(total > 0, total, 1)
    middle = np.einsum("...m,...mi->...i", share, points)
    apart = points - middle[..., None, :]
    sizes = np.linalg.eigvalsh(np.einsum("...m,...mi,...mj->...ij", share, apart, apart, optimize=True))
    return np.asarray(((weights > 0).sum(axis=-1) >= 3) & (sizes[..., 1] > _FLAT**2 * sizes[..., 2]))
