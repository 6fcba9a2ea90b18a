"""Each joint's rotation from rest in the world, and poses made of such rotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.skeleton import Skeleton, invert_affine


def world_rotations(motion: Motion, skeleton: Skeleton) -> tuple[Floats, Floats]:
    """Return each joint's rotation from rest (P, J, 3, 3) and translation (P, J, 3) in the world, without scale."""
    rest = _world_axes(skeleton, rotations.matrices(skeleton.rest_rotations)[None])
    posed = _world_axes(skeleton, rotations.matrices(motion.rotations))
    translation = (_translation_axes(skeleton, motion.rotations) @ motion.translations[..., None])[..., 0]
    return posed @ np.swapaxes(rest, -1, -2), translation


def motion_from_world_rotations(
    skeleton: Skeleton, world_rotation: Floats, translation: Floats, like: Motion, free: NDArray[np.bool_] | None = None
) -> Motion:
    """Return the motion of rotations from rest (P, J, 3, 3) and translations (P, J, 3) in the world.

    Joints marked in `free` (J,) follow their parents. Times, names and controls are those of `like`.
    """
    frames = _local_frame_axes(skeleton)
    rest_local = rotations.matrices(skeleton.rest_rotations)
    rest = _world_axes(skeleton, rest_local[None])[0]
    world = world_rotation @ rest
    for joint in skeleton.order:
        if free is not None and free[joint]:
            parent = skeleton.parents[joint]
            above = world[:, parent] if parent >= 0 else np.eye(3)
            world[:, joint] = above @ frames[joint] @ rest_local[joint]
    base = np.swapaxes(_above(skeleton, world) @ frames, -1, -2)
    local = rotations.from_matrices(base @ world)
    local_translations = (invert_affine(_translation_axes(skeleton, local)) @ translation[..., None])[..., 0]
    return Motion(local, local_translations, like.times, like.names, like.controls, like.control_names)


def _translation_axes(skeleton: Skeleton, local: Floats) -> Floats:
    """Matrices (P, J, 3, 3) from joints' translations to the world: parents' axes and local frames, with scale."""
    return _above(skeleton, skeleton.world(local)[..., :3, :3]) @ skeleton.local_frames[:, :3, :3]


def _above(skeleton: Skeleton, world: Floats) -> Floats:
    """The world axes (P, J, 3, 3) of each joint's parent."""
    above = np.tile(np.eye(3), (*world.shape[:2], 1, 1))
    child = skeleton.parents >= 0
    above[:, child] = world[:, skeleton.parents[child]]
    return above


def _local_frame_axes(skeleton: Skeleton) -> Floats:
    return rotations.matrices(rotations.polar(skeleton.local_frames[:, :3, :3].astype(np.float64))[0])


def _world_axes(skeleton: Skeleton, local: Floats) -> Floats:
    world = _local_frame_axes(skeleton) @ local
    for joint in skeleton.order:
        parent = skeleton.parents[joint]
        if parent >= 0:
            world[:, joint] = world[:, parent] @ world[:, joint]
    return world
