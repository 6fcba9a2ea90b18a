"""Which poses are one pose: their bones lie alike among each other, wherever the whole is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from posespace.check import Floats
from posespace.motion import LEAST_CONTROL
from posespace.skeleton import invert_affine

LEAST_ANGLE, SHIFTED = 1e-3, 1e-4
"""By how much the axes of a bone, and its place as a fraction of the diagonal, may differ."""


def alike(rig: ps.Rig, motion: ps.Motion, others: ps.Motion) -> NDArray[np.bool_]:
    """Return (P, Q) which poses of a motion are one with which of others, all with the same controls."""
    found = np.zeros((len(motion), len(others)), dtype=bool)
    bones, theirs = _bones(rig, motion), _bones(rig, others)
    allowed = np.array([LEAST_ANGLE, LEAST_ANGLE, LEAST_ANGLE, SHIFTED * rig.mesh.diagonal])
    for row, (bone, controls) in enumerate(zip(bones, motion.controls, strict=True)):
        placed = (np.abs(theirs - bone) < allowed).all(axis=(1, 2, 3))
        found[row] = placed & (np.abs(others.controls - controls) < LEAST_CONTROL).all(axis=1)
    return found


def _bones(rig: ps.Rig, motion: ps.Motion) -> Floats:
    """The bones that move vertices, seen from the first of them (P, B, 3, 4): axes, and where the box's middle goes."""
    used = np.unique(rig.influences[rig.weights > 0])
    bones = np.tile(np.eye(4), (len(motion), len(used), 1, 1))
    bones[:, :, :3] = rig.transforms(motion)[:, used]
    middle = np.eye(4)
    middle[:3, 3] = rig.mesh.box.mean(axis=0)
    return np.asarray((invert_affine(bones[:, :1]) @ bones @ middle)[:, :, :3])
