"""Poses of control points that follow shapes: each point is where its vertex is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.examples import Examples
from posespace.motion import Motion
from posespace.rig import Rig


def followed_motion(examples: Examples, rig: Rig, points: Sequence[int] | NDArray[np.integer]) -> Motion:
    """Return the poses of a rig of control points on vertices `points` (M,) at the shapes of examples."""
    rest = rig.skeleton.rest_world[1:, :3, 3]
    shifts = np.zeros((len(examples), len(rig.skeleton), 3))
    for row in range(len(examples)):
        shifts[row, 1:] = _places(examples, row, points) - rest
    turns = np.broadcast_to(rig.skeleton.rest_rotations, (len(examples), len(rig.skeleton), 4))
    motion = examples.motion
    return Motion(turns, shifts, motion.times, motion.names)


def followed(examples: Examples, rig: Rig, points: Sequence[int] | NDArray[np.integer]) -> Examples:
    """Return examples of the same shapes whose poses are those of control points."""
    return replace(examples, rig=rig, motion=followed_motion(examples, rig, points))


def _places(examples: Examples, row: int, points: Sequence[int] | NDArray[np.integer]) -> Floats:
    shape = np.asarray(examples.shapes[row], dtype=np.float64)
    return np.asarray(shape[np.asarray(points)])
