"""Rotations of triangles from the rest shape to each shape."""

from __future__ import annotations

import numpy as np
from numba import prange

from posespace.check import Floats, Ints
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.jit import njit

MOST = 100_000_000
"""Most numbers held for the rotations of all triangles; with more shapes, an even selection is used."""


def triangle_rotations(points: Floats, triangles: Ints, shapes: Floats) -> Floats:
    """Return (T, 9 P) float32 the rotation matrix of each triangle from rest into each shape, row after row.

    It takes the edges and the normal of the triangle closest to those in the shape. A triangle without area has one
    too: the smallest, where several are as close.

    Parameters
    ----------
    points : (N, 3) the rest shape
    triangles : (T, 3)
    shapes : (N, P, 3) the same vertices in P shapes, of which an even selection is used beyond `MOST`
    """
    poses = shapes.shape[1]
    step = -(-9 * poses * len(triangles) // MOST)
    return np.asarray(_rotations(points, triangles, shapes, max(1, step)))


@njit(parallel=True)
def _rotations(points: Floats, triangles: Ints, shapes: Floats, step: int) -> Floats:  # pragma: no cover - compiled
    poses = -(-shapes.shape[1] // step)
    rotations = np.empty((len(triangles), 9 * poses), np.float32)
    for t in prange(len(triangles)):
        rest, posed = np.empty((4, 3)), np.empty((4, 3))
        m, rotation = np.empty((3, 3)), np.empty((3, 3))
        _sides(points[triangles[t, 0]], points[triangles[t, 1]], points[triangles[t, 2]], rest)
        for column in range(poses):
            p = column * step
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
            nearest_rotation(m, rotation)
            rotations[t, 9 * column : 9 * column + 9] = rotation.ravel()
    return rotations


@njit()
def _sides(a: Floats, b: Floats, c: Floats, sides: Floats) -> None:  # pragma: no cover - compiled
    """Write a triangle's three edges, and its normal with the root of their summed squares as its length."""
    for k in range(3):
        sides[0, k], sides[1, k], sides[2, k] = b[k] - a[k], c[k] - b[k], a[k] - c[k]
    around = np.sqrt((sides[:3] ** 2).sum())
    normal = np.cross(sides[0], sides[1])
    length = np.sqrt((normal**2).sum())
    for k in range(3):
        sides[3, k] = around * normal[k] / length if length > 0 else 0.0
