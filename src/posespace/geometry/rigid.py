"""The rigid motion that brings some points nearest to others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.geometry import rotations

_FLAT = 1e-3
"""Points spread less than this across a line, as a fraction of their spread along it, leave a turn about it open."""


def rigid(rest: Floats, places: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return the rotation (..., 3, 3) and shift (..., 3) that bring `rest` (..., M, 3) nearest to `places` (..., M, 3).

    `shares` (..., M) say how much each counts; they sum to one.
    """
    here, there = (np.einsum("...m,...mi->...i", shares, points) for points in (rest, places))
    apart = places - there[..., None, :], rest - here[..., None, :]
    turn = rotations.matrices(rotations.polar(np.einsum("...m,...mi,...mj->...ij", shares, *apart, optimize=True))[0])
    return turn, there - np.einsum("...ij,...j->...i", turn, here)


def equal_shares(counted: NDArray[np.bool_]) -> Floats:
    """Return shares (..., M) that are equal for all that are `counted` (..., M), and sum to one where any is."""
    return np.asarray(counted / np.maximum(counted.sum(axis=-1, keepdims=True), 1))


def spans_plane(points: Floats, shares: Floats) -> NDArray[np.bool_]:
    """Return (...) whether points (..., M, 3) of `shares` (..., M) above zero are three or more, off one line."""
    apart = points - np.einsum("...m,...mi->...i", shares, points)[..., None, :]
    sizes = np.linalg.eigvalsh(np.einsum("...m,...mi,...mj->...ij", shares, apart, apart, optimize=True))
    return np.asarray(((shares > 0).sum(axis=-1) >= 3) & (sizes[..., 1] > _FLAT**2 * sizes[..., 2]))
