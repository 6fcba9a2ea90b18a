"""The way from rest through a pose: positions along it stand where they are, and other poses at the nearest point."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sculpts import bar, posed
from helpers.strategies import random_rotations, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.geometry import rotations
from posespace.poses.pose_axis import PoseAxis

SKELETON = bar().skeleton


def axis_to(space: ps.PoseSpace, pose: ps.Pose, radius: float = 1.0) -> PoseAxis:
    start, end = space.coordinates(bar().rest, SKELETON), space.coordinates(pose, SKELETON)
    axes = space.dimensions // 4 if space.metric == "rotation" else space.dimensions
    return PoseAxis(space, start, end, np.full(axes, radius), SKELETON)


@settings(max_examples=60)
@given(seeds, st.sampled_from(["joint", "quaternions", "freedoms", "controls"]), st.integers(1, 3))
def test_positions_along_the_axis_stand_where_they_are(seed: int, kind: str, count: int) -> None:
    rng = np.random.default_rng(seed)
    if kind in ("joint", "quaternions"):
        start, end = (random_rotations(rng, count).ravel() for _ in range(2))
        names, axes = SKELETON.names[:count], count if kind == "joint" else 4 * count
    else:
        start, end, axes = rng.normal(size=count), rng.normal(size=count), count
        names = ("tip.z", "base.tx", "smile")[:count] if kind == "freedoms" else ("a", "b", "c")[:count]
    axis = PoseAxis(ps.PoseSpace(kind, names), start, end, rng.uniform(0.5, 2.0, axes), SKELETON)
    fractions = np.linspace(0, 0.99 * axis.farthest(1.5), 9)
    positions = axis.positions(fractions)
    np.testing.assert_allclose(axis.fractions(positions), fractions, atol=1e-6)
    if axis.is_quaternions:
        np.testing.assert_allclose(
            rotations.angles_between(positions[0].reshape(-1, 4), start.reshape(-1, 4)), 0, atol=1e-6
        )
        steps = rotations.angles_between(positions[1:].reshape(8, -1, 4), positions[:-1].reshape(8, -1, 4))
        np.testing.assert_allclose(np.linalg.norm(steps, axis=1), axis.length * fractions[1], atol=1e-6)


def test_a_rotation_about_another_axis_does_not_count() -> None:
    axis = axis_to(ps.PoseSpace("joint", ("tip",)), posed(tip=0.8))
    about = rotations.multiply(
        rotations.from_axis_angle((0.0, 0.0, 1.0), 0.4), rotations.from_axis_angle((1.0, 0.0, 0.0), 0.9)
    )
    assert axis.fractions(about[None])[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("space", "pose", "unit", "length", "radius"),
    [
        (ps.PoseSpace("joint", ("base", "tip")), posed(tip=0.8, base=0.6), "radians", 1.0, 0.5),
        (ps.PoseSpace("quaternions", ("tip",)), posed(tip=0.8), "radians", 0.8, 1.0),
        (ps.PoseSpace("controls", ("smile", "frown")), posed(smile=3.0, frown=4.0), "control", 5.0, 0.5),
        (ps.PoseSpace("freedoms", ("tip.z", "smile")), posed(tip=0.8), "radians", 0.8, 0.5),
        (ps.PoseSpace("freedoms", ("tip.z", "smile")), posed(smile=2.0), "control", 2.0, 0.5),
        (ps.PoseSpace("freedoms", ("tip.z", "smile")), posed(tip=3.0, smile=4.0), "fraction", 1.0, 0.1),
        (
            ps.PoseSpace("freedoms", ("tip.tx",)),
            ps.Pose(bar().rest.rotations, [[0] * 3, [0] * 3, [2, 0, 0]]),
            "length",
            2.0,
            0.5,
        ),
    ],
)
def test_distances_have_a_unit(space: ps.PoseSpace, pose: ps.Pose, unit: str, length: float, radius: float) -> None:
    axis = axis_to(space, pose, 0.5)
    assert (axis.unit, axis.length, axis.radius_along) == (unit, pytest.approx(length), pytest.approx(radius))


def test_no_joint_makes_more_than_half_a_turn() -> None:
    axis = axis_to(ps.PoseSpace("joint", ("tip",)), posed(tip=2.5))
    assert axis.farthest(1.5) == pytest.approx(np.pi / 2.5)
    assert axis_to(ps.PoseSpace("freedoms", ("tip.z", "smile")), posed(tip=2.5)).farthest(1.5) == axis.farthest(1.5)
    assert axis_to(ps.PoseSpace("controls", ("smile",)), posed(smile=100.0)).farthest(1.5) == 1.5
