"""Anchors: the control points that define the rigid motion of the whole, because they move least relative to it."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.geometry.rigid import rigid

_ROUNDS = 30
_STEADY = 0.02
"""Root mean square motion, of the points' extent, below which all points have the same weight."""


def find_anchors(rest: Floats, positions: Floats) -> tuple[Floats, Floats]:
    """Find each point's weight in the rigid motion of the whole, and remove that motion.

    Weight and motion are found alternately: the weight is the inverse of a point's variance once the motion is removed.

    Parameters
    ----------
    rest : (M, 3) the points at rest
    positions : (S, M, 3) the points in each example

    Returns
    -------
    anchors : (M,) sum to one
    samples : (S, M, 3) the points aligned to the rest shape
    """
    anchors = np.full(len(rest), 1 / len(rest))
    floor = (_STEADY * np.linalg.norm(np.ptp(rest, axis=0))) ** 2 + 1e-30
    for _ in range(_ROUNDS):
        samples = without_rigid_motion(rest, positions, anchors)
        variance = ((samples - rest) ** 2).sum(axis=2).mean(axis=0)
        anchors = 1 / (variance + floor)
        anchors /= anchors.sum()
    return anchors, without_rigid_motion(rest, positions, anchors)


def without_rigid_motion(rest: Floats, positions: Floats, anchors: Floats) -> Floats:
    """Return points (S, M, 3) without the rigid motion of the whole."""
    rotation, translation = rigid(rest, positions, anchors)
    return np.asarray((positions - translation[:, None]) @ rotation)
