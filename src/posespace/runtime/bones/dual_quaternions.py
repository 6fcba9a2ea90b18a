"""Dual quaternion blending, compiled: displaced rest points and normals moved by blends of rigid motions."""

from __future__ import annotations

import math

import numpy as np
from numba import prange

from posespace.check import Floats, Floats32
from posespace.geometry import rotations
from posespace.rig import Rig
from posespace.runtime.compiled import Ints32, compiled, inlined, on_all_cores
from posespace.runtime.entries import owned


def dual_palette(palette: Floats32) -> Floats:
    """Return (J, 17) of transforms (12 J,): the rotation's quaternion, its dual part, and scale and shear (3, 3)."""
    bones = palette.astype(np.float64).reshape(-1, 3, 4)
    rotation, stretch = rotations.polar(bones[:, :, :3])
    translation = np.concatenate([bones[:, :, 3], np.zeros((len(bones), 1))], axis=1)
    dual = 0.5 * rotations.multiply(translation, rotation)
    return np.concatenate([rotation, dual, stretch.reshape(-1, 9)], axis=1)


class DualQuaternions:
    """Dual quaternion blending of a rig's bones.

    Parameters
    ----------
    rig : the rig
    threads : how many cores work on a frame
    """

    def __init__(self, rig: Rig, threads: int) -> None:
        self._threads = threads
        self._weights = rig.weights.astype(np.float64)
        self._influences = owned("rig influences", rig.influences, len(rig.skeleton))

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._threads = 1

    def move(self, palette: Floats32, points: Floats32, normals: Floats32) -> None:
        """Move points (N, 3) and normals (N, 3) or (0, 3) in place, by transforms (12 J,)."""
        loop = _move_all_on_all_cores if self._threads > 1 else _move_all_alone
        loop(self._threads, dual_palette(palette), self._influences, self._weights, points, normals)


def _move_all(
    parts: int, bones: Floats, influences: Ints32, weights: Floats, points: Floats32, normals: Floats32
) -> None:  # pragma: no cover - compiled
    """Move points and normals in place, in `parts` shares."""
    count = len(influences)
    for part in prange(parts):
        blend = np.empty(17)
        for v in range(part * count // parts, (part + 1) * count // parts):
            _blend(bones, influences[v], weights[v], blend)
            _move(blend, points[v])
            if len(normals) > 0:
                _rotate(blend, normals[v])


_move_all_on_all_cores, _move_all_alone = on_all_cores(_move_all), compiled(_move_all)


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
        dot = bone[0] * pivot[0] + bone[1] * pivot[1] + bone[2] * pivot[2] + bone[3] * pivot[3]
        signed = -weight if dot < 0 else weight
        for k in range(8):
            blend[k] += signed * bone[k]
        for k in range(8, 17):
            blend[k] += weight * bone[k]
    length = math.sqrt(blend[0] ** 2 + blend[1] ** 2 + blend[2] ** 2 + blend[3] ** 2)
    for k in range(8):
        blend[k] /= length


@compiled
def _move(blend: Floats, point: Floats32) -> None:  # pragma: no cover - compiled
    """Move a point: scale and shear, then the rotation and translation of the dual quaternion."""
    x, y, z, w = blend[0], blend[1], blend[2], blend[3]
    a, b, c, d = blend[4], blend[5], blend[6], blend[7]
    px, py, pz = point[0], point[1], point[2]
    i = blend[8] * px + blend[9] * py + blend[10] * pz
    j = blend[11] * px + blend[12] * py + blend[13] * pz
    k = blend[14] * px + blend[15] * py + blend[16] * pz
    i, j, k = _rotated(blend, i, j, k)
    point[0] = i + 2 * (-d * x + a * w - b * z + c * y)
    point[1] = j + 2 * (-d * y + a * z + b * w - c * x)
    point[2] = k + 2 * (-d * z - a * y + b * x + c * w)


@compiled
def _rotate(blend: Floats, normal: Floats32) -> None:  # pragma: no cover - compiled
    """Rotate a normal by the cofactors of the blend's linear part R·S: R times the cofactors of S."""
    a, b, c, d, e, f = blend[8], blend[9], blend[10], blend[11], blend[12], blend[13]
    g, h, m = blend[14], blend[15], blend[16]
    x, y, z = normal[0], normal[1], normal[2]
    i = (e * m - f * h) * x + (f * g - d * m) * y + (d * h - e * g) * z
    j = (h * c - m * b) * x + (m * a - g * c) * y + (g * b - h * a) * z
    k = (b * f - c * e) * x + (c * d - a * f) * y + (a * e - b * d) * z
    length = math.sqrt(i * i + j * j + k * k)
    if length > 0.0:
        i, j, k = _rotated(blend, i, j, k)
        normal[0], normal[1], normal[2] = i / length, j / length, k / length


@inlined
def _rotated(blend: Floats, i: float, j: float, k: float) -> tuple[float, float, float]:  # pragma: no cover - compiled
    """A vector, rotated by a blend's unit quaternion."""
    x, y, z, w = blend[0], blend[1], blend[2], blend[3]
    return (
        (1 - 2 * (y * y + z * z)) * i + 2 * (x * y - z * w) * j + 2 * (x * z + y * w) * k,
        2 * (x * y + z * w) * i + (1 - 2 * (x * x + z * z)) * j + 2 * (y * z - x * w) * k,
        2 * (x * z - y * w) * i + 2 * (y * z + x * w) * j + (1 - 2 * (x * x + y * y)) * k,
    )
