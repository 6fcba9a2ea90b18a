"""The rotation nearest a 3x3 matrix, compiled: what rigid fits are made of."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.jit import njit

_SWEEPS = 12
"""Rounds of Jacobi rotations; a 4x4 matrix takes four or five."""


@njit()
def nearest_rotation(m: Floats, rotation: Floats) -> None:  # pragma: no cover - compiled
    """Write to `rotation` (3, 3) the proper rotation R with the largest tr(Rᵀ m) for a matrix m (3, 3).

    As a quaternion it is the eigenvector of the largest eigenvalue of a symmetric 4x4 matrix (Horn 1987), found by
    Jacobi rotations. Where m leaves it open, one of the best is written.
    """
    k = np.empty((4, 4))
    k[0, 0], k[1, 1] = m[0, 0] - m[1, 1] - m[2, 2], m[1, 1] - m[0, 0] - m[2, 2]
    k[2, 2], k[3, 3] = m[2, 2] - m[0, 0] - m[1, 1], m[0, 0] + m[1, 1] + m[2, 2]
    k[0, 1] = k[1, 0] = m[0, 1] + m[1, 0]
    k[0, 2] = k[2, 0] = m[0, 2] + m[2, 0]
    k[1, 2] = k[2, 1] = m[1, 2] + m[2, 1]
    k[0, 3] = k[3, 0] = m[2, 1] - m[1, 2]
    k[1, 3] = k[3, 1] = m[0, 2] - m[2, 0]
    k[2, 3] = k[3, 2] = m[1, 0] - m[0, 1]
    v = np.eye(4)
    for _ in range(_SWEEPS):
        off, size = 0.0, 0.0
        for i in range(4):
            size += k[i, i] * k[i, i]
            for j in range(i):
                off += k[i, j] * k[i, j]
        if off <= 1e-30 * (size + off):
            break
        for i in range(3):
            for j in range(i + 1, 4):
                _rotate(k, v, i, j)
    best = 0
    for i in range(1, 4):
        if k[i, i] > k[best, best]:
            best = i
    x, y, z, w = v[0, best], v[1, best], v[2, best], v[3, best]
    rotation[0, 0], rotation[1, 1] = 1 - 2 * (y * y + z * z), 1 - 2 * (x * x + z * z)
    rotation[2, 2] = 1 - 2 * (x * x + y * y)
    rotation[0, 1], rotation[1, 0] = 2 * (x * y - z * w), 2 * (x * y + z * w)
    rotation[0, 2], rotation[2, 0] = 2 * (x * z + y * w), 2 * (x * z - y * w)
    rotation[1, 2], rotation[2, 1] = 2 * (y * z - x * w), 2 * (y * z + x * w)


@njit()
def _rotate(k: Floats, v: Floats, i: int, j: int) -> None:  # pragma: no cover - compiled
    """Bring the entry (i, j) of a symmetric matrix to zero by a rotation, which is added to `v`."""
    if k[i, j] == 0.0:
        return
    half = (k[j, j] - k[i, i]) / (2 * k[i, j])
    t = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
    if half < 0:
        t = -t
    c = 1.0 / np.sqrt(t * t + 1.0)
    s = t * c
    for a in range(4):
        left, right = k[a, i], k[a, j]
        k[a, i], k[a, j] = c * left - s * right, s * left + c * right
    for a in range(4):
        left, right = k[i, a], k[j, a]
        k[i, a], k[j, a] = c * left - s * right, s * left + c * right
        left, right = v[a, i], v[a, j]
        v[a, i], v[a, j] = c * left - s * right, s * left + c * right
