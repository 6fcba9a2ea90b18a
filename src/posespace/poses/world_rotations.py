"""Each joint's rotation from rest in the world, and poses made of such rotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.skeleton import Skeleton, invert_affine


def world_rotations(motion: Motion, skeleton: Skeleton) -> tuple[Floats, Floats]:
    """World rotations from rest (P, J, 3, 3), scale left out, and world shifts (P, J, 3) of each joint."""
    rest = _world_axes(skeleton, rotations.matrices(skeleton.rest_rotations)[None])
    posed = _world_axes(skeleton, rotations.matrices(motion.rotations))
    shift = (_shift_axes(skeleton, motion.rotations) @ motion.translations[..., None])[..., 0]
    return posed @ np.swapaxes(rest, -1, -2), shift


def motion_from_world_rotations(
    skeleton: Skeleton, turn: Floats, shift: Floats, like: Motion, free: NDArray[np.bool_] | None = None
) -> Motion:
    """The motion whose joints turn from rest by `turn` in the world; those marked in `free` follow their parents."""
    frames = _frame_axes(skeleton)
    rest_local = rotations.matrices(skeleton.rest_rotations)
    rest = _world_axes(skeleton, rest_local[None])[0]
    world = turn @ rest
    for joint in skeleton.order:
        if free is not None and free[joint]:
            parent = skeleton.parents[joint]
            above = world[:, parent] if parent >= 0 else np.eye(3)
            world[:, joint] = above @ frames[joint] @ rest_local[joint]
    base = np.swapaxes(_above(skeleton, world) @ frames, -1, -2)
    local = rotations.from_matrices(base @ world)
    moved = (invert_affine(_shift_axes(skeleton, local)) @ shift[..., None])[..., 0]
    return Motion(local, moved, like.times, like.names, like.controls, like.control_names)


def _shift_axes(skeleton: Skeleton, local: Floats) -> Floats:
    """What takes a joint's shift (3,) to the world, (P, J, 3, 3): its parent's axes and its frame, scale included."""
    return _above(skeleton, skeleton.world(local)[..., :3, :3]) @ skeleton.local_frames[:, :3, :3]


def _above(skeleton: Skeleton, world: Floats) -> Floats:
    """The world axes (P, J, 3, 3) of each joint's parent."""
    above = np.tile(np.eye(3), (*world.shape[:2], 1, 1))
    child = skeleton.parents >= 0
    above[:, child] = world[:, skeleton.parents[child]]
    return above


def _frame_axes(skeleton: Skeleton) -> Floats:
    return rotations.matrices(rotations.polar(skeleton.local_frames[:, :3, :3].astype(np.float64))[0])


def _world_axes(skeleton: Skeleton, local: Floats) -> Floats:
    world = _frame_axes(skeleton) @ local
    for joint in skeleton.order:
        parent = skeleton.parents[joint]
        if parent >= 0:
            world[:, joint] = world[:, parent] @ world[:, joint]
    return world
