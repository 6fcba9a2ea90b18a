"""The rigid motion of the whole, taken out of control points by a compiled loop."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.geometry.nearest_rotation import clear_rotation
from posespace.runtime.compiled import relaxed
from posespace.skin.bones.learned import LearnedBones


class Alignment:
    """Aligns control points to rest, as `LearnedBones.without_whole` does.

    Parameters
    ----------
    bones : whose control points they are
    """

    def __init__(self, bones: LearnedBones) -> None:
        self._bones = bones
        self._rest = np.ascontiguousarray(bones.rest, dtype=np.float64)
        self._anchors = np.ascontiguousarray(bones.anchors, dtype=np.float64)

    def __call__(self, quaternions: Floats, translations: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the same as `LearnedBones.without_whole` of rotations (P, M + 1, 4) and translations (P, M + 1, 3)."""
        aligned, rotation = np.empty(translations.shape), np.empty((len(translations), 3, 3))
        moved = np.empty((len(translations), 3))
        for row in range(len(translations)):
            pose = quaternions[row, 0], translations[row]
            if not _align(self._rest, self._anchors, *pose, aligned[row], rotation[row], moved[row]):
                return self._bones.without_whole(quaternions, translations)
        return aligned, rotation, moved


@relaxed
def _align(
    rest: Floats,
    anchors: Floats,
    root: Floats,
    translations: Floats,
    aligned: Floats,
    rotation: Floats,
    moved: Floats,
) -> bool:  # pragma: no cover - compiled
    """Write a pose's aligned translations (M + 1, 3), the rotation (3, 3) and translation (3,) of the whole.

    Parameters
    ----------
    rest, anchors : (M, 3) and (M,) of the control points
    root, translations : (4,) the quaternion of the root, and (M + 1, 3) of all joints

    Returns
    -------
    whether the points leave no rotation open; else what is written is of no use
    """
    x, y, z, w = root[0], root[1], root[2], root[3]
    columns = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)),
        (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)),
        (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)),
    )
    product, here, there = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    for point in range(len(rest)):
        for i in range(3):
            aligned[point + 1, i] = translations[0, i]
        for j in range(3):
            local = rest[point, j] + translations[point + 1, j]
            for i in range(3):
                aligned[point + 1, i] += columns[j][i] * local
        for i in range(3):
            here[i] += anchors[point] * rest[point, i]
            there[i] += anchors[point] * aligned[point + 1, i]
    for point in range(len(rest)):
        for i in range(3):
            for j in range(3):
                product[i, j] += anchors[point] * (aligned[point + 1, i] - there[i]) * (rest[point, j] - here[j])
    if not clear_rotation(product, rotation):
        return False
    for i in range(3):
        moved[i] = there[i] - (rotation[i, 0] * here[0] + rotation[i, 1] * here[1] + rotation[i, 2] * here[2])
        aligned[0, i] = 0.0
    for point in range(len(rest)):
        x, y, z = aligned[point + 1, 0] - moved[0], aligned[point + 1, 1] - moved[1], aligned[point + 1, 2] - moved[2]
        for j in range(3):
            turned = x * rotation[0, j] + y * rotation[1, j] + z * rotation[2, j]
            aligned[point + 1, j] = turned - rest[point, j]
    return True
