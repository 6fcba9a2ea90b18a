"""Clips: poses that move much at once are brought near if they are many, else met, and always met by a given kernel."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.clips import bending, bulging, parted, tube_rig

import posespace as ps
from posespace.evaluation.score import evaluate
from posespace.fit.duplicate_poses import merge_duplicate_poses
from posespace.fit.psd.clip import EXACT_BELOW, LEAST, clip_poses
from posespace.geometry import rotations

RIG = tube_rig()


def turned(*joints: tuple[int, float]) -> ps.Pose:
    turn = np.tile(rotations.IDENTITY, (3, 1)).astype(np.float64)
    for joint, angle in joints:
        turn[joint] = rotations.from_axis_angle((0.0, 0.0, 1.0), np.array(angle))
    return ps.Pose(turn)


def test_poses_that_move_the_same_things_are_a_clip_if_they_are_enough() -> None:
    both = [turned((1, 0.1 * k), (2, 0.5)) for k in range(1, LEAST + 1)]
    single = [turned((1, 0.1 * k)) for k in range(1, 10)]
    rest = [turned()]
    found = clip_poses(RIG, ps.Motion.from_poses([*rest, *single, *both]))
    np.testing.assert_array_equal(found, [False] * 10 + [True] * LEAST)
    assert not clip_poses(RIG, ps.Motion.from_poses([*rest, *single, *both[1:]])).any()


def test_the_few_poses_left_beside_a_clip_belong_to_it() -> None:
    both = [turned((1, 0.05 * k), (2, 0.5)) for k in range(1, 21)]
    found = clip_poses(RIG, ps.Motion.from_poses([turned(), turned((1, 0.3)), *both]))
    np.testing.assert_array_equal(found, [False] + [True] * 21)


@pytest.mark.parametrize("frames", [LEAST, EXACT_BELOW - 1])
def test_a_short_clip_is_met_in_one_layer(frames: int) -> None:
    examples = bulging(RIG, bending(frames))
    skin = ps.PSD().fit(examples)
    assert [layer.name for layer in skin.layers] == ["all (clip)"]
    assert evaluate(skin, examples).max_error < 1e-5 * RIG.mesh.diagonal


def test_a_long_clip_is_brought_near_region_by_region_and_foretold() -> None:
    train, unseen = parted(bulging(RIG, bending(60)))
    skin = ps.PSD().fit(train)
    assert [layer.name for layer in skin.layers] == ["body (clip)", "middle (clip)", "tip (clip)"]
    assert evaluate(skin, unseen).rel_err < 0.1
    said = skin.about["layers"]
    assert [layer["name"] for layer in said] == [layer.name for layer in skin.layers]
    assert all(0 < layer["left out, fraction of plain skinning's error"] < 0.2 for layer in said)
    assert all(0.9 < layer["shrunk to"] <= 1 for layer in said)


@pytest.mark.parametrize("method", [ps.PSD("multiquadric"), ps.PSD(radius=2.0)])
def test_given_settings_are_about_every_frame(method: ps.PSD) -> None:
    examples = bulging(RIG, bending(30))
    skin = method.fit(examples)
    assert [layer.name for layer in skin.layers] == ["middle + tip"]
    assert evaluate(skin, examples).max_error < 1e-6 * RIG.mesh.diagonal


def test_a_clip_does_not_correct_what_is_below_the_tolerance() -> None:
    examples = bulging(RIG, bending(30))
    still = np.asarray(RIG.mesh.points)[:, 0] < -1
    shapes = np.stack(list(examples.shapes))
    off = 1e-9 * np.random.default_rng(0).normal(size=shapes.shape)
    plain = np.stack([RIG.skin(pose) for pose in examples.motion])
    shapes[:, still] = plain[:, still] + off[:, still]
    skin = ps.PSD().fit(ps.Examples.from_shapes(RIG, examples.motion, shapes))
    moved = {int(vertex) for layer in skin.layers for vertex in layer.support}
    assert moved.isdisjoint(np.flatnonzero(still).tolist())


def test_equal_poses_are_merged_into_the_mean_of_their_shapes() -> None:
    examples = bulging(RIG, bending(5))
    assert merge_duplicate_poses(examples) is examples
    rows = [0, 1, 2, 1, 3, 1]
    shapes = np.stack([examples.shapes[k] for k in rows])
    shapes[3] += 0.3
    found = merge_duplicate_poses(ps.Examples.from_shapes(RIG, ps.Motion(examples.motion.rotations[rows]), shapes))
    assert found.motion.names == ("0", "1", "2", "4")
    np.testing.assert_allclose(found.shapes[1], examples.shapes[1] + 0.1, atol=1e-6)
    np.testing.assert_array_equal(found.shapes[2], examples.shapes[2])
