"""Which control points say how the whole moves: those that keep their places relative to each other."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.geometry.rigid import rigid

_ROUNDS = 30
_STEADY = 0.02
"""A point that wanders less than this fraction of the points' extent counts as one that keeps its place."""


def find_anchors(rest: Floats, places: Floats) -> tuple[Floats, Floats]:
    """Find how much each point counts in the rigid motion of the whole, and take that motion out.

    Each point counts by the inverse of how far it wanders once the whole is taken out, found in turns.

    Parameters
    ----------
    rest : (M, 3) the points at rest
    places : (S, M, 3) the points in each example

    Returns
    -------
    anchors : (M,) sum to one
    samples : (S, M, 3) the points brought to the rest
    """
    anchors = np.full(len(rest), 1 / len(rest))
    floor = (_STEADY * np.linalg.norm(np.ptp(rest, axis=0))) ** 2 + 1e-30
    for _ in range(_ROUNDS):
        samples = without_rigid_motion(rest, places, anchors)
        wander = ((samples - rest) ** 2).sum(axis=2).mean(axis=0)
        anchors = 1 / (wander + floor)
        anchors /= anchors.sum()
    return anchors, without_rigid_motion(rest, places, anchors)


def without_rigid_motion(rest: Floats, places: Floats, anchors: Floats) -> Floats:
    """Return points (S, M, 3) without the rigid motion of the whole."""
    turn, shift = rigid(rest, places, anchors)
    return np.asarray((places - shift[:, None]) @ turn)
