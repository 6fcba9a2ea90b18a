"""The bones of players: both kinds give the transforms and amounts of the reference, and change no pose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.point_skins import point_motion, point_skin
from helpers.strategies import random_points_skin, random_pose, random_skin, seeds
from hypothesis import given, settings

import posespace as ps
from posespace.runtime.bones.stage import played_bones
from posespace.runtime.drive.drive import drive
from posespace.runtime.drive.tables import TRANSFORM, driver_tables
from posespace.skin.edit import with_beta

KINDS = {"skeleton": random_skin, "learned": random_points_skin}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(seeds)
def test_several_poses_are_driven_as_the_reference_drives_each(kind: str, threads: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = KINDS[kind](rng)
    motion = ps.Motion.from_poses([replace(random_pose(rng, skin.rig), controls={}) for _ in range(3)])
    tables, bones = driver_tables(skin), played_bones(skin, threads)
    poses = np.zeros((3, tables.pose_size))
    tables.write_poses(motion, 0, 3, poses)
    given_poses = poses.copy()
    palettes = np.zeros((3, bones.joint_numbers), np.float32)
    driven = bones.drive(poses, palettes)
    coordinates = np.zeros(tables.columns)
    for row, pose in enumerate(motion):
        drive(tables.arrays, driven.poses[row], np.zeros(tables.scratch), palettes[row], coordinates)
        found = tables.driven(skin, driven.palettes[row].reshape(-1, 3, 4), coordinates, driven.amounts[row])
        for own, wanted in zip(found, skin.drive(pose), strict=True):
            for some, others in zip(own, wanted, strict=True):
                np.testing.assert_allclose(some, others, atol=1e-5 * (1 + np.abs(others).max(initial=0)))
    np.testing.assert_array_equal(poses, given_poses)


def test_only_joints_that_are_bones_have_transforms() -> None:
    rng = np.random.default_rng(0)
    skin, pointed = random_skin(rng), random_points_skin(rng)
    assert played_bones(skin, 1).joint_numbers == TRANSFORM * len(skin.rig.skeleton)
    assert played_bones(pointed, 1).joint_numbers == 0


def test_a_player_goes_on_from_a_pose_that_it_has_played() -> None:
    rng = np.random.default_rng(1)
    skin = random_points_skin(rng)
    pose = replace(random_pose(rng, skin.rig), controls={})
    play = skin.compile()
    first = play(pose)[0]
    read = play._pose.copy()
    play.drive(pose)
    np.testing.assert_array_equal(play._pose, read)
    np.testing.assert_array_equal(play(pose)[0], first)


@pytest.mark.parametrize("beta", [1e-9, 1e-6, 1e-3, 30.0, 1e6, 1e9])
def test_points_are_those_of_the_reference_however_strongly_the_points_pull(beta: float) -> None:
    skin = with_beta(point_skin("corrections and detail"), beta)
    play = skin.compile()
    for pose in point_motion(skin, 3):
        gap = np.abs(play(pose)[0] - skin.pose(pose)[0]).max()
        assert gap < 1e-5 * skin.rig.mesh.diagonal
