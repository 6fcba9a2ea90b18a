"""Motion retargeting: poses of one skeleton on another, by joint names and rotations in the world."""

from __future__ import annotations

import itertools

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.poses.world_rotations import motion_from_world_rotations, world_rotations
from posespace.skeleton import Skeleton

_NAMED = 4
"""Joints of each skeleton that an error names."""


class NoCommonJointError(InputError):
    """A motion is of a skeleton that shares no joint with the one it is for."""


def retarget_motion(motion: Motion, source: Skeleton, target: Skeleton) -> Motion:
    """Return poses of the skeleton `source` on `target`: joints of one name rotate equally in the world, from rest.

    The two may have different axes (y up, z up), units and rest rotations: axes and unit are found from the rest
    positions of the common joints. Joints of `target` that `source` lacks keep their rest rotation.
    """
    check.kind("motion", motion, Motion)
    for what, skeleton in (("source", source), ("target", target)):
        check.kind(what, skeleton, Skeleton)
    common = [name for name in target.names if name in set(source.names)]
    if not common:
        raise NoCommonJointError(
            f"none of the motion's joints ({_first_of(source)}) is in the skeleton ({_first_of(target)})"
        )
    to = [target.index(name) for name in common]
    of = [source.index(name) for name in common]
    axes, unit = _alignment(source.rest_world[of, :3, 3], target.rest_world[to, :3, 3])
    source_rotations, source_translations = world_rotations(motion, source)
    rotations = np.tile(np.eye(3), (len(motion), len(target), 1, 1))
    translations = np.zeros((len(motion), len(target), 3))
    rotations[:, to] = axes @ source_rotations[:, of] @ axes.T
    translations[:, to] = unit * source_translations[:, of] @ axes.T
    free = np.isin(np.arange(len(target)), to, invert=True)
    return motion_from_world_rotations(target, rotations, translations, motion, free)


def _first_of(skeleton: Skeleton) -> str:
    return ", ".join(skeleton.names[:_NAMED]) + ", ..." * (len(skeleton) > _NAMED)


def _alignment(source: Floats, target: Floats) -> tuple[Floats, float]:
    """The rotation (3, 3), one of the 24 that map axes to axes, and the unit that bring `source` to `target`.

    Whole axes only: two rest poses may differ (arms down, arms out), and a free rotation would pass that on.
    """
    a, b = source - source.mean(axis=0), target - target.mean(axis=0)
    spread = float(np.sqrt((a**2).sum()))
    if spread == 0 or not (b**2).sum():
        return np.eye(3), 1.0
    candidates = [
        np.eye(3)[list(order)] * np.array(signs)[:, None]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    ]
    proper = [candidate for candidate in candidates if np.linalg.det(candidate) > 0]
    # The identity comes first, so that a tie keeps the axes.
    best = max(proper, key=lambda rotation: round(float(((a @ rotation.T) * b).sum()) / spread**2, 9))
    return best, float(np.sqrt((b**2).sum())) / spread
