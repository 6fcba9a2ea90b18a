"""Small rigs with sculpts, and how far a skin is from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from posespace.geometry import rotations
from posespace.poses.active import at_rest
from posespace.poses.parts import parts_of
from posespace.skeleton import Skeleton

CONTROLS = ("load", "smile")
STEPS = (-0.9, -0.5, 0.4, 0.8, 1.2)


def random_sculpts(rng: np.random.Generator, rig: ps.Rig, count: int) -> ps.Examples:
    """Sculpts of some vertices at poses that move one to three joints or controls, by steps that often recur.

    No two are the same but for the motion of the whole, and none is the rest pose.
    """
    poses: dict[tuple[object, ...], ps.Pose] = {}
    parts = parts_of(rig.skeleton)
    linked = [name for name, link in zip(rig.skeleton.names, parts.links, strict=True) if link >= 0]
    while len(poses) < count:
        names = [*linked[:3], *CONTROLS]
        moved = sorted(rng.choice(names, rng.integers(1, 4), replace=False))
        steps = tuple(float(rng.choice(STEPS)) for _ in moved)
        turn = np.array(rig.rest.rotations)
        for name, step in zip(moved, steps, strict=True):
            if name not in CONTROLS:
                joint = rig.skeleton.index(name)
                axis = np.eye(3)[rng.integers(0, 2)]
                turn[joint] = rotations.multiply(turn[joint], rotations.from_axis_angle(axis, step))
        controls = {name: step for name, step in zip(moved, steps, strict=True) if name in CONTROLS}
        pose = ps.Pose(turn, rig.rest.translations, controls)
        if not at_rest(rig, ps.Motion.from_poses([pose])).any():
            key = (*np.round(np.abs(parts.of(pose)[0]), 6).ravel(), *controls.items())
            poses.setdefault(key, pose)
    shapes = []
    for pose in poses.values():
        touched = rng.random((len(rig.mesh.points), 1)) < 0.6
        shapes.append(rig.skin(pose, 0.1 * touched * rng.normal(size=rig.mesh.points.shape)))
    names = [f"sculpt {k}" for k in range(count)]
    return ps.Examples.from_shapes(rig, ps.Motion.from_poses(list(poses.values()), names), shapes)


def misfit(skin: ps.Skin, examples: ps.Examples) -> float:
    """How far the skin is from the examples, at vertices whose blend could be inverted, as a part of the box."""
    worst = 0.0
    for index, (pose, shape) in enumerate(examples):
        damped = examples.residual(index)[1]
        worst = max(worst, float(np.linalg.norm(skin.pose(pose)[0] - shape, axis=1)[~damped].max(initial=0)))
    return worst / examples.rig.mesh.diagonal


def bar(axes: NDArray[np.float64] | None = None) -> ps.Rig:
    """Joints along x: a body that only moves the whole, and two below it that make poses."""
    points = np.array([[x, y, 0.0] for x in (0, 1, 2, 3) for y in (0, 1)])
    world = np.tile(np.eye(4), (3, 1, 1))
    world[1:, 0, 3] = 0.5, 1.5
    skeleton = Skeleton.from_world(["body", "base", "tip"], [-1, 0, 1], world, axes)
    joints = (points[:, :1] > 0.5).astype(np.int32) + (points[:, :1] > 1.5)
    return ps.Rig(ps.Mesh(points, [[0, 1, 2]]), skeleton, joints, np.ones((8, 1)))


def posed(base: float = 0.0, tip: float = 0.0, **controls: float) -> ps.Pose:
    turn = rotations.from_axis_angle((0.0, 0.0, 1.0), np.array([0.0, base, tip]))
    return ps.Pose(turn, controls=controls)


def sculpted(poses: dict[str, ps.Pose], rig: ps.Rig | None = None) -> ps.Examples:
    """Sculpts of the bar, each moving vertices of its own."""
    rig = rig or bar()
    shapes = []
    for index, each in enumerate(poses.values()):
        bump = np.zeros((8, 3))
        bump[index % 8 :: 3, 2] = 0.1 * (1 + index)
        shapes.append(rig.skin(each, bump))
    return ps.Examples.from_shapes(rig, ps.Motion.from_poses(list(poses.values()), list(poses)), shapes)
