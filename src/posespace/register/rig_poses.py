"""The poses of a rig fitted to shapes: each joint is fitted to its skin as a rigid body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from posespace.check import Floats
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import invert_affine

_LEAST_SKIN = 1e-6
"""Joints with less weight in all have no skin to be fitted to: they follow their parent."""


def rig_poses(rig: Rig, shapes: Iterable[Floats], names: Sequence[str]) -> Motion:
    """Return the poses of shapes (N, 3) of a rig, as rotations and translations of its joints."""
    bound = invert_affine(rig.inverse_bind)
    weights = rig.dense_weights() ** 2
    rest = np.asarray(rig.mesh.points, dtype=np.float64)
    world = [_moves(rig, weights, rest, np.asarray(shape, dtype=np.float64)) @ bound for shape in shapes]
    return Motion.from_world(rig.skeleton, np.stack(world), names=names)


def _moves(rig: Rig, weights: Floats, rest: Floats, shape: Floats) -> Floats:
    """The rigid motion (J, 4, 4) of each joint's skin; squared weights, so that skin of one joint alone counts most."""
    motions = np.tile(np.eye(4), (len(rig.skeleton), 1, 1))
    whole = _rigid(rest, shape, np.ones(len(rest)))
    for joint in rig.skeleton.order:
        above = rig.skeleton.parents[joint]
        skin_weights = weights[:, joint]
        if skin_weights.sum() > _LEAST_SKIN:
            motions[joint] = _rigid(rest[skin_weights > 0], shape[skin_weights > 0], skin_weights[skin_weights > 0])
        else:
            motions[joint] = motions[above] if above >= 0 else whole
    return motions


def _rigid(rest: Floats, shape: Floats, weights: Floats) -> Floats:
    """The rigid motion (4, 4) from points to others, by weighted least squares."""
    share = (weights / weights.sum())[:, None]
    rest_centre, shape_centre = (share * rest).sum(axis=0), (share * shape).sum(axis=0)
    left, _, right = np.linalg.svd((share * (shape - shape_centre)).T @ (rest - rest_centre))
    rotation = left @ np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))]) @ right
    motion = np.eye(4)
    motion[:3, :3], motion[:3, 3] = rotation, shape_centre - rotation @ rest_centre
    return motion
