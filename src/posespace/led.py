"""Poses of control points that a skeleton leads: each point is where plain skinning of a rig puts its vertex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posespace import skinning
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.rig import BLENDINGS, Rig


def led_motion(leader: Rig, motion: Motion, rig: Rig, points: Sequence[int] | NDArray[np.integer]) -> Motion:
    """Return the poses of a rig of control points on vertices `points` (M,) as a skeleton moves them.

    Parameters
    ----------
    leader : a rig of the same vertices, in the same order and unit, with a skeleton of its own
    motion : poses of its skeleton
    rig : the rig of control points
    points : (M,) the vertices that they are on
    """
    have, want = len(leader.mesh.points), len(rig.mesh.points)
    if have != want:
        raise InputError(f"rig: expected the {want:,} vertices of the skin, in its order, got {have:,}")
    chosen = np.asarray(points)
    start, blend = leader.mesh.points[chosen], BLENDINGS[leader.blending]
    transforms = leader.transforms(motion)
    places = [
        skinning.apply(blend(each, leader.influences[chosen], leader.weights[chosen]), start) for each in transforms
    ]
    shifts = np.zeros((len(motion), len(rig.skeleton), 3))
    if len(motion):
        shifts[:, 1:] = np.stack(places) - start
    turns = np.broadcast_to(rig.skeleton.rest_rotations, (len(motion), len(rig.skeleton), 4))
    return Motion(turns, shifts, motion.times, motion.names)
