"""Parts: what joints add to a pose does not change when the whole is moved, and poses can be made of it again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.clips import bending, moved_whole, rigid, tube_rig
from helpers.strategies import random_pose, random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import posespace as ps
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.poses.parts import parts_of

Array = NDArray[np.float64]


def assert_same_parts(one: tuple[Array, Array], other: tuple[Array, Array]) -> None:
    assert rotations.angles_between(one[0], other[0]).max() < 1e-9
    np.testing.assert_allclose(one[1], other[1], atol=1e-9)


@settings(max_examples=40)
@given(seeds, st.booleans())
def test_parts_do_not_change_when_the_whole_is_moved(seed: int, scaled: bool) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng, scaled=scaled)
    motion = ps.Motion.from_poses([random_pose(rng, rig) for _ in range(4)])
    moved = moved_whole(motion, rig.skeleton, rigid(rng, 4))
    assert rotations.angles_between(moved.rotations, motion.rotations).max() > 0.01
    assert_same_parts(parts_of(rig.skeleton).of(moved), parts_of(rig.skeleton).of(motion))


@settings(max_examples=20)
@given(seeds)
def test_parts_do_not_change_when_the_only_root_is_moved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton, motion = tube_rig().skeleton, bending(4)
    turn, shift = np.array(motion.rotations), np.array(motion.translations)
    turn[:, 0], shift[:, 0] = rotations.normalize(rng.normal(size=(4, 4))), rng.normal(size=(4, 3))
    assert_same_parts(parts_of(skeleton).of(ps.Motion(turn, shift)), parts_of(skeleton).of(motion))


@settings(max_examples=40)
@given(seeds)
def test_poses_made_of_parts_have_these_parts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    parts = parts_of(rig.skeleton)
    motion = ps.Motion.from_poses([random_pose(rng, rig) for _ in range(4)])
    found = parts.of(motion)
    assert_same_parts(parts.of(ps.Motion(*parts.to_pose(*found))), found)
    again = ps.Motion(*parts.to_pose(*found, whole=motion))
    world = rig.skeleton.world(motion.rotations, motion.translations)
    np.testing.assert_allclose(rig.skeleton.world(again.rotations, again.translations), world, atol=1e-9)


@settings(max_examples=20)
@given(seeds)
def test_the_rest_pose_has_the_rest_parts_and_no_shifts(seed: int) -> None:
    rig = random_rig(np.random.default_rng(seed))
    skeleton = rig.skeleton
    turns, shifts = parts_of(skeleton).of(ps.Pose(skeleton.rest_rotations))
    assert rotations.angles_between(turns, parts_of(skeleton).rest).max() < 1e-9
    np.testing.assert_allclose(shifts, 0, atol=1e-9)
    np.testing.assert_allclose(parts_of(skeleton).angles(turns), 0, atol=1e-7)


@settings(max_examples=20)
@given(seeds)
def test_a_joint_linked_to_its_parent_has_its_own_rotation_and_shift_and_a_free_one_rests(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    skeleton, pose = rig.skeleton, random_pose(rng, rig)
    turns, shifts = parts_of(skeleton).of(pose)
    own = (parts_of(skeleton).links == skeleton.parents) & (parts_of(skeleton).links >= 0)
    np.testing.assert_array_equal(turns[own], pose.rotations[own])
    np.testing.assert_array_equal(shifts[own], pose.translations[own])
    free = parts_of(skeleton).links < 0
    np.testing.assert_array_equal(turns[free], parts_of(skeleton).rest[free])
    np.testing.assert_array_equal(shifts[free], 0)


@settings(max_examples=20)
@given(seeds)
def test_parts_turned_by_angles_have_these_angles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = parts_of(random_rig(rng).skeleton)
    angles = rng.uniform(-0.8, 0.8, size=(3, 5, 3))
    np.testing.assert_allclose(parts.angles(parts.rotated(angles)), angles, atol=1e-7)


def test_without_links_the_parents_count() -> None:
    skeleton = tube_rig().skeleton
    assert skeleton.links is None
    np.testing.assert_array_equal(parts_of(skeleton).links, skeleton.parents)
    assert not len(parts_of(skeleton).rerouted)
    assert not parts_of(skeleton).oriented.any()


@pytest.mark.parametrize("links", [[1, 0, -1], [1, 2, 0], [-1, 1, 0], [-1, 0, 3], [-1, 0, -2], [-1, 0]])
def test_links_in_a_circle_or_to_nowhere_are_refused_in_one_line(links: list[int]) -> None:
    with pytest.raises(InputError, match="links") as caught:
        replace(tube_rig().skeleton, links=np.array(links, dtype=np.int32))
    assert "\n" not in str(caught.value)
