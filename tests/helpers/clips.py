"""Small clips whose truth is known, and the same with the whole turned and shifted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from helpers.strategies import random_rotations
from helpers.tube import tube
from numpy.typing import NDArray

import posespace as ps
from posespace.geometry import rotations
from posespace.poses.parts import parts_of
from posespace.rig import pack_weights

Array = NDArray[np.float64]

JOINTS = ("body", "middle", "tip")


def tube_rig(joints: int = 3, flat: bool = False, names: tuple[str, ...] | None = None) -> ps.Rig:
    """A tube along x with joints in a row, the first a root; flat: all hang from a root of their own without skin."""
    mesh = tube(24, 8)
    places = np.linspace(-3, 3, joints + 1)[:-1]
    world = np.tile(np.eye(4), (joints + flat, 1, 1))
    world[flat:, 0, 3] = places
    # Each joint's weight is one in the middle of its bone and fades towards the next.
    middle = places + 3 / joints
    near = np.maximum(0, 1.2 - np.abs(mesh.points[:, :1] - middle) * joints / 6)
    dense = np.zeros((len(mesh.points), joints + flat))
    dense[:, flat:] = near / near.sum(axis=1, keepdims=True)
    parents = np.where(np.arange(joints + flat) > 0, 0, -1) if flat else np.arange(joints) - 1
    known = names or (*JOINTS, *(f"joint {k}" for k in range(3, joints)))[:joints]
    skeleton = ps.Skeleton.from_world(("hub", *known) if flat else known, parents, world)
    return ps.Rig(mesh, skeleton, *pack_weights(dense))


def waves(frames: int, columns: int, seed: int = 0) -> Array:
    """Smooth curves (frames, columns) between -1 and 1, each of its own pace."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames) / 40
    return np.stack([np.sin(2 * np.pi * (rng.uniform(0.6, 1.7) * time + rng.random())) for _ in range(columns)], axis=1)


def bending(frames: int = 40, seed: int = 0, size: float = 0.9) -> ps.Motion:
    """Frames in which the middle and the tip of the tube turn about two axes each."""
    angles = size * waves(frames, 4, seed)
    turn = np.tile(rotations.IDENTITY, (frames, 3, 1)).astype(np.float64)
    for joint in (1, 2):
        for axis, column in ((1, 2 * joint - 2), (2, 2 * joint - 1)):
            more = rotations.from_axis_angle(np.eye(3)[axis], angles[:, column])
            turn[:, joint] = rotations.multiply(turn[:, joint], more)
    return ps.Motion(turn)


def shifting(frames: int = 40, seed: int = 0, size: float = 0.4) -> ps.Motion:
    """Frames in which the middle and the tip of the tube only shift."""
    shifts = np.zeros((frames, 3, 3))
    shifts[:, 1:] = size * waves(frames, 6, seed).reshape(frames, 2, 3)
    return ps.Motion(np.tile(rotations.IDENTITY, (frames, 3, 1)).astype(np.float64), shifts)


def bulging(rig: ps.Rig, motion: ps.Motion, size: float = 0.2) -> ps.Examples:
    """Shapes that swell where the middle or the tip move, by a smooth function of how they do."""
    turns, shifts = parts_of(rig.skeleton).of(motion)
    moved = np.concatenate([parts_of(rig.skeleton).angles(turns), shifts], axis=2)[:, 1:]
    points = np.asarray(rig.mesh.points, dtype=np.float64)
    near = np.exp(-((points[:, :1] - np.array([-1.0, 1.0])) ** 2))
    outward = points * [0.0, 1.0, 1.0]
    effort = np.tanh(moved @ np.array([0.3, 1.0, -0.7, 1.5, 1.1, -0.8])) + 0.3 * (moved**2).sum(axis=2)
    lacking = size * np.einsum("pk,nk,ni->pni", effort, near, outward)
    shapes = [rig.skin(pose, more) for pose, more in zip(motion, lacking, strict=True)]
    return ps.Examples.from_shapes(rig, motion, shapes)


def parted(examples: ps.Examples, run: int = 5) -> tuple[ps.Examples, ps.Examples]:
    """The examples without every fourth run of frames, and those runs."""
    unseen = np.arange(len(examples)) // run % 4 == 2
    return examples[np.flatnonzero(~unseen)], examples[np.flatnonzero(unseen)]


def rigid(rng: np.random.Generator, count: int, size: float = 1.0) -> Array:
    """Rigid transforms (count, 4, 4)."""
    found = np.tile(np.eye(4), (count, 1, 1))
    found[:, :3, :3] = rotations.matrices(random_rotations(rng, count))
    found[:, :3, 3] = size * rng.normal(size=(count, 3))
    return found


def moved_whole(motion: ps.Motion, skeleton: ps.Skeleton, by: Array) -> ps.Motion:
    """The motion with all joints of each pose moved by one rigid transform, of `by` (P, 4, 4)."""
    world = skeleton.world(motion.rotations.astype(np.float64), motion.translations.astype(np.float64))
    made = ps.Motion.from_world(skeleton, by[:, None] @ world, motion.times, motion.names)
    return replace(made, controls=motion.controls, control_names=motion.control_names)


def carried(examples: ps.Examples, seed: int = 0) -> ps.Examples:
    """The examples, each turned and shifted as a whole."""
    by = rigid(np.random.default_rng(seed), len(examples))
    shapes = [np.asarray(shape) @ each[:3, :3].T + each[:3, 3] for shape, each in zip(examples.shapes, by, strict=True)]
    return ps.Examples.from_shapes(examples.rig, moved_whole(examples.motion, examples.rig.skeleton, by), shapes)
