"""How each triangle turns from the rest shape into each shape."""

from __future__ import annotations

import numpy as np
from numba import prange

from posespace.check import Floats, Ints
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.jit import njit

MOST = 100_000_000
"""Numbers that are held of all triangles' rotations; where there are more shapes, some are left out, evenly."""


def triangle_turns(points: Floats, triangles: Ints, shapes: Floats) -> Floats:
    """Return (T, 9 P) float32 the rotation matrix of each triangle from rest into each shape, row after row.

    It is the rotation that brings its edges and its normal closest to theirs there, so a triangle without area has
    one too: the smallest, where several are as close.

    Parameters
    ----------
    points : (N, 3) the rest shape
    triangles : (T, 3)
    shapes : (N, P, 3) the same vertices in P shapes; of more than `MOST` numbers can hold, some, spread evenly
    """
    poses = shapes.shape[1]
    step = -(-9 * poses * len(triangles) // MOST)
    return np.asarray(_turns(points, triangles, shapes, max(1, step)))


@njit(parallel=True)
def _turns(points: Floats, triangles: Ints, shapes: Floats, step: int) -> Floats:  # pragma: no cover - compiled
    poses = -(-shapes.shape[1] // step)
    found = np.empty((len(triangles), 9 * poses), np.float32)
    for t in prange(len(triangles)):
        rest, posed = np.empty((4, 3)), np.empty((4, 3))
        m, turn = np.empty((3, 3)), np.empty((3, 3))
        _sides(points[triangles[t, 0]], points[triangles[t, 1]], points[triangles[t, 2]], rest)
        for place in range(poses):
            p = place * step
            a, b, c = shapes[triangles[t, 0], p], shapes[triangles[t, 1], p], shapes[triangles[t, 2], p]
            _sides(a, b, c, posed)
            size = 0.0
            for i in range(3):
                for j in range(3):
                    m[i, j] = 0.0
                    for side in range(4):
                        m[i, j] += posed[side, i] * rest[side, j]
                    size += abs(m[i, j])
            for i in range(3):
                m[i, i] += 1e-9 * size + 1e-300
            nearest_rotation(m, turn)
            found[t, 9 * place : 9 * place + 9] = turn.ravel()
    return found


@njit()
def _sides(a: Floats, b: Floats, c: Floats, sides: Floats) -> None:  # pragma: no cover - compiled
    """Write a triangle's three edges, and its normal as long as they are together."""
    for k in range(3):
        sides[0, k], sides[1, k], sides[2, k] = b[k] - a[k], c[k] - b[k], a[k] - c[k]
    around = np.sqrt((sides[:3] ** 2).sum())
    normal = np.cross(sides[0], sides[1])
    length = np.sqrt((normal**2).sum())
    for k in range(3):
        sides[3, k] = around * normal[k] / length if length > 0 else 0.0
