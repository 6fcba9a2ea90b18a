"""The rotation nearest a 3x3 matrix, compiled: what rigid fits are made of."""

from __future__ import annotations

import math

import numpy as np

from posespace.check import Floats
from posespace.jit import njit

_SWEEPS = 12
"""Rounds of Jacobi rotations; a 4x4 matrix takes four or five."""

_NEWTON = 30
"""Steps of Newton's method; six or seven are enough where the rotation is clear."""

_CLEAR = 1e-3
"""A rotation is clear where the next best one is worse by at least this fraction."""


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


@njit()
def clear_rotation(m: Floats, rotation: Floats) -> bool:  # pragma: no cover - compiled
    """Write what `nearest_rotation` does, many times faster, where m leaves nothing open; else return False.

    The eigenvalue is a root of a polynomial, and the rotation follows from it without an eigenvector (Markley 1993).
    """
    a, b, c, d, e, f, g, h, i = m[0, 0], m[0, 1], m[0, 2], m[1, 0], m[1, 1], m[1, 2], m[2, 0], m[2, 1], m[2, 2]
    size = np.sqrt(a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i)
    if not 1e-150 < size < 1e150:
        return False
    a, b, c, d, e, f, g, h, i = a / size, b / size, c / size, d / size, e / size, f / size, g / size, h / size, i / size
    cofactors = (
        (e * i - f * h, f * g - d * i, d * h - e * g),
        (c * h - b * i, a * i - c * g, b * g - a * h),
        (b * f - c * e, c * d - a * f, a * e - b * d),
    )
    determinant = a * cofactors[0][0] + b * cofactors[0][1] + c * cofactors[0][2]
    minors = 0.0
    for row in cofactors:
        minors += row[0] * row[0] + row[1] * row[1] + row[2] * row[2]
    largest = _largest_root(determinant, minors)
    half = 0.5 * (largest * largest - 1.0)
    gap = half * largest - determinant
    if not gap > _CLEAR * largest * largest * largest:
        return False
    # The matrix times itself: the rows of m mᵀ.
    aa, bb, cc = a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i
    ab, ac, bc = a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i
    rows = (a, b, c), (d, e, f), (g, h, i)
    for k in range(3):
        x, y, z = rows[0][k], rows[1][k], rows[2][k]
        rotation[0, k] = ((half + 1.0 - aa) * x - ab * y - ac * z + largest * cofactors[0][k]) / gap
        rotation[1, k] = ((half + 1.0 - bb) * y - ab * x - bc * z + largest * cofactors[1][k]) / gap
        rotation[2, k] = ((half + 1.0 - cc) * z - ac * x - bc * y + largest * cofactors[2][k]) / gap
    return True


@njit()
def _largest_root(determinant: float, minors: float) -> float:  # pragma: no cover - compiled
    """The largest root of (x² - 1)² - 8 determinant x - 4 minors: Newton's method from above, which only descends."""
    root = math.sqrt(3.0)
    for _ in range(_NEWTON):
        square = root * root - 1.0
        step = (square * square - 8.0 * determinant * root - 4.0 * minors) / (4.0 * root * square - 8.0 * determinant)
        root -= step
        if not step > 1e-15:
            break
    return root
