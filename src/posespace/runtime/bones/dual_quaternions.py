"""Dual quaternion blending, compiled: displaced rest points and normals carried by blends of rigid motions."""

from __future__ import annotations

import math

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.geometry import rotations
from posespace.runtime.compiled import Ints32, compiled


def dual_palette(palette: Floats32) -> Floats:
    """Return (J, 17) of transforms (12 J,): the rotation's quaternion, its dual part, and scale and shear (3, 3)."""
    bones = palette.astype(np.float64).reshape(-1, 3, 4)
    turn, stretch = rotations.polar(bones[:, :, :3])
    shift = np.concatenate([bones[:, :, 3], np.zeros((len(bones), 1))], axis=1)
    return np.concatenate([turn, 0.5 * rotations.multiply(shift, turn), stretch.reshape(-1, 9)], axis=1)


def carry(
    parts: int, bones: Floats, influences: Ints32, weights: Floats, points: Floats32, normals: Floats32
) -> None:  # pragma: no cover - compiled
    """Move points (N, 3) and normals (N, 3) in place, in `parts` shares; the player compiles it for one core or all."""
    count = len(influences)
    for part in prange(parts):
        blend = np.empty(17)
        for v in range(part * count // parts, (part + 1) * count // parts):
            _blend(bones, influences[v], weights[v], blend)
            _move(blend, points[v], normals[v])


@compiled
def _blend(bones: Floats, influences: Ints32, weights: Floats, blend: Floats) -> None:  # pragma: no cover - compiled
    """Write the sum of a vertex's bones, each quaternion with the sign nearest that of the strongest one."""
    strongest = 0
    for slot in range(len(weights)):
        if weights[slot] > weights[strongest]:
            strongest = slot
    pivot = bones[influences[strongest]]
    blend[:] = 0.0
    for slot in range(len(weights)):
        bone, weight = bones[influences[slot]], weights[slot]
        agree = bone[0] * pivot[0] + bone[1] * pivot[1] + bone[2] * pivot[2] + bone[3] * pivot[3]
        signed = -weight if agree < 0 else weight
        for k in range(8):
            blend[k] += signed * bone[k]
        for k in range(8, 17):
            blend[k] += weight * bone[k]
    length = math.sqrt(blend[0] ** 2 + blend[1] ** 2 + blend[2] ** 2 + blend[3] ** 2)
    for k in range(8):
        blend[k] /= length


@compiled
def _move(blend: Floats, point: Floats32, normal: Floats32) -> None:  # pragma: no cover - compiled
    """Move a point, and turn a normal by the cofactors of the blend's linear part."""
    x, y, z, w = blend[0], blend[1], blend[2], blend[3]
    a, b, c, d = blend[4], blend[5], blend[6], blend[7]
    r = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    s = blend[8:].reshape((3, 3))
    px, py, pz = point[0], point[1], point[2]
    i = s[0, 0] * px + s[0, 1] * py + s[0, 2] * pz
    j = s[1, 0] * px + s[1, 1] * py + s[1, 2] * pz
    k = s[2, 0] * px + s[2, 1] * py + s[2, 2] * pz
    shift = (
        2 * (-d * x + a * w - b * z + c * y),
        2 * (-d * y + a * z + b * w - c * x),
        2 * (-d * z - a * y + b * x + c * w),
    )
    for axis in range(3):
        point[axis] = r[axis][0] * i + r[axis][1] * j + r[axis][2] * k + shift[axis]
    # The cofactors of R·S are R times those of S.
    nx, ny, nz = normal[0], normal[1], normal[2]
    i = _minor(s, 1, 2, 1, 2) * nx + _minor(s, 1, 2, 2, 0) * ny + _minor(s, 1, 2, 0, 1) * nz
    j = _minor(s, 2, 0, 1, 2) * nx + _minor(s, 2, 0, 2, 0) * ny + _minor(s, 2, 0, 0, 1) * nz
    k = _minor(s, 0, 1, 1, 2) * nx + _minor(s, 0, 1, 2, 0) * ny + _minor(s, 0, 1, 0, 1) * nz
    length = math.sqrt(i * i + j * j + k * k)
    if length > 0.0:
        for axis in range(3):
            normal[axis] = (r[axis][0] * i + r[axis][1] * j + r[axis][2] * k) / length


@compiled
def _minor(s: Floats, a: int, b: int, c: int, d: int) -> float:  # pragma: no cover - compiled
    return float(s[a, c] * s[b, d] - s[a, d] * s[b, c])
