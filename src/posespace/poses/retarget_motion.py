"""Poses moved onto another skeleton: joints of one name turn alike in the world."""

from __future__ import annotations

import itertools

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.poses.world_rotations import motion_from_world_rotations, world_rotations
from posespace.skeleton import Skeleton


def retarget_motion(motion: Motion, source: Skeleton, target: Skeleton) -> Motion:
    """Carry poses of the skeleton `source` onto `target`: joints of one name turn alike in the world, from rest.

    The two may have other axes (y up, z up), units and rest rotations: axes and unit are found from where the common
    joints rest. Joints of `target` that `source` lacks keep their rest rotation.
    """
    check.kind("motion", motion, Motion)
    for what, skeleton in (("source", source), ("target", target)):
        check.kind(what, skeleton, Skeleton)
    common = [name for name in target.names if name in set(source.names)]
    if not common:
        raise InputError(
            f"motion: none of its joints ({', '.join(source.names[:4])}, ...) is in the skeleton "
            f"({', '.join(target.names[:4])}, ...)"
        )
    to = [target.index(name) for name in common]
    of = [source.index(name) for name in common]
    axes, unit = _alignment(source.rest_world[of, :3, 3], target.rest_world[to, :3, 3])
    given_turn, given_shift = world_rotations(motion, source)
    turn = np.tile(np.eye(3), (len(motion), len(target), 1, 1))
    shift = np.zeros((len(motion), len(target), 3))
    turn[:, to] = axes @ given_turn[:, of] @ axes.T
    shift[:, to] = unit * given_shift[:, of] @ axes.T
    free = np.isin(np.arange(len(target)), to, invert=True)
    return motion_from_world_rotations(target, turn, shift, motion, free)


def _alignment(source: Floats, target: Floats) -> tuple[Floats, float]:
    """The turn of the axes (3, 3), one of the 24 that map axes to axes, and the unit that bring `source` to `target`.

    Whole axes only: two rest poses may differ (arms down, arms out), and a free rotation would pass that on.
    """
    a, b = source - source.mean(axis=0), target - target.mean(axis=0)
    spread = float(np.sqrt((a**2).sum()))
    if spread == 0 or not (b**2).sum():
        return np.eye(3), 1.0
    turns = [
        np.eye(3)[list(order)] * np.array(signs)[:, None]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    ]
    proper = [turn for turn in turns if np.linalg.det(turn) > 0]
    # The identity stands first, so that a tie leaves the axes as they are.
    best = max(proper, key=lambda turn: round(float(((a @ turn.T) * b).sum()) / spread**2, 9))
    return best, float(np.sqrt((b**2).sum())) / spread
