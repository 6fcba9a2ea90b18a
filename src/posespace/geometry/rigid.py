"""Rigid alignment: the rotation and translation that bring points closest to others, by least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.geometry import rotations

_FLAT = 1e-3
"""Points that spread less than this across a line, of their spread along it, leave the rotation about it open."""


def rigid(rest: Floats, targets: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return the rotation (..., 3, 3) and translation (..., 3) from `rest` (..., M, 3) to `targets` (..., M, 3).

    `shares` (..., M) are the weights of the points; they sum to one.
    """
    here, there = (np.einsum("...m,...mi->...i", shares, points) for points in (rest, targets))
    apart = targets - there[..., None, :], rest - here[..., None, :]
    rotation = rotations.matrices(
        rotations.polar(np.einsum("...m,...mi,...mj->...ij", shares, *apart, optimize=True))[0]
    )
    return rotation, there - np.einsum("...ij,...j->...i", rotation, here)


def equal_shares(counted: NDArray[np.bool_]) -> Floats:
    """Return shares (..., M) that are equal for all that are `counted` (..., M), and sum to one where any is."""
    return np.asarray(counted / np.maximum(counted.sum(axis=-1, keepdims=True), 1))


def spans_plane(points: Floats, shares: Floats) -> NDArray[np.bool_]:
    """Return (...) whether points (..., M, 3) of `shares` (..., M) above zero are three or more, off one line."""
    apart = points - np.einsum("...m,...mi->...i", shares, points)[..., None, :]
    sizes = np.linalg.eigvalsh(np.einsum("...m,...mi,...mj->...ij", shares, apart, apart, optimize=True))
    return np.asarray(((shares > 0).sum(axis=-1) >= 3) & (sizes[..., 1] > _FLAT**2 * sizes[..., 2]))
