"""The metric: radians count as far as they move skin, shifts as themselves, controls as long as the longest other."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.clips import tube_rig
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.poses.axis_lengths import axis_lengths, levers
from posespace.rig import pack_weights


@settings(max_examples=20)
@given(seeds)
def test_a_lever_is_how_far_a_joints_own_skin_is_from_it(seed: int) -> None:
    rig = random_rig(np.random.default_rng(seed))
    dense, points = rig.dense_weights(), np.asarray(rig.mesh.points, dtype=np.float64)
    places = np.linalg.inv(rig.inverse_bind)[:, :3, 3]
    found = levers(rig)
    for joint in np.flatnonzero(dense.sum(axis=0) > 0):
        away = ((points - places[joint]) ** 2).sum(axis=1)
        expected = np.sqrt(dense[:, joint] @ away / dense[:, joint].sum())
        assert found[joint] == pytest.approx(expected, rel=1e-5)


def test_a_joint_without_skin_has_the_mean_lever() -> None:
    rig = tube_rig(4, flat=True)
    found = levers(rig)
    assert found[0] == pytest.approx(found[1:].mean())
    bare = ps.Rig(rig.mesh, rig.skeleton, *pack_weights(np.eye(5)[np.zeros(len(rig.mesh.points), dtype=int)]))
    assert levers(bare)[1:] == pytest.approx(np.full(4, levers(bare)[0]))


@settings(max_examples=20)
@given(st.floats(0.01, 100.0))
def test_levers_and_lengths_of_angles_are_in_the_meshs_unit(size: float) -> None:
    rig = tube_rig()
    mesh = ps.Mesh(rig.mesh.points * size, rig.mesh.triangles)
    world = rig.skeleton.rest_world.copy()
    world[:, :3, 3] *= size
    skeleton = ps.Skeleton.from_world(rig.skeleton.names, rig.skeleton.parents, world)
    large = ps.Rig(mesh, skeleton, rig.influences, rig.weights)
    np.testing.assert_allclose(levers(large), size * levers(rig), rtol=1e-5)
    space, where = ps.PoseSpace("freedoms", ("tip.x", "tip.tz")), np.zeros((1, 2))
    small, found = (axis_lengths(each, space, where) for each in (rig, large))
    np.testing.assert_allclose(found, small * [size, 1], rtol=1e-5)


def test_axes_count_angles_by_levers_shifts_as_themselves_and_controls_as_the_longest() -> None:
    rig = tube_rig()
    space = ps.PoseSpace("freedoms", ("middle.y", "tip.z", "tip.tx", "smile", "frown", "still"))
    where = np.array([[0, 0, 0, 0, 0, 2.0], [0.5, -0.2, 0.1, 40.0, -0.01, 2.0]])
    lengths = axis_lengths(rig, space, where)
    reach = levers(rig)
    np.testing.assert_allclose(lengths[:3], [reach[1], reach[2], 1])
    longest = max(0.5 * reach[1], 0.2 * reach[2], 0.1)
    np.testing.assert_allclose(lengths[3:5] * [40, 0.01], longest)
    assert lengths[5] == pytest.approx(longest)


@pytest.mark.parametrize("where", [np.zeros((0, 1)), np.array([[0.0], [1.0]])])
def test_controls_alone_count_as_a_tenth_of_the_box(where: np.ndarray) -> None:
    rig = tube_rig()
    assert axis_lengths(rig, ps.PoseSpace("controls", ("smile",)), where) == pytest.approx([0.1 * rig.mesh.diagonal])
