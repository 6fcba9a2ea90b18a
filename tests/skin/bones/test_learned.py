"""Learned bones: the rigid motion of the whole is no pose, files keep them, players agree with the reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_points_skin, random_rotations, seeds
from hypothesis import given, settings

import posespace as ps
from posespace.geometry import rotations


def random_pose(rng: np.random.Generator, skin: ps.Skin) -> ps.Pose:
    joints = len(skin.rig.skeleton)
    return ps.Pose(random_rotations(rng, joints), rng.normal(size=(joints, 3)))


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_moving_all_points_rigidly_moves_the_surface_rigidly_and_changes_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_points_skin(rng)
    shifts = np.zeros((len(skin.rig.skeleton), 3))
    shifts[1:] = rng.normal(size=skin.bones.rest.shape)
    points, normals = skin.pose(ps.Pose(np.tile(rotations.IDENTITY, (len(shifts), 1)), shifts))
    turn, move = rotations.matrices(random_rotations(rng, 1))[0], rng.normal(size=3)
    moved = shifts.copy()
    moved[1:] = (skin.bones.rest + shifts[1:]) @ turn.T + move - skin.bones.rest
    again, turned = skin.pose(ps.Pose(np.tile(rotations.IDENTITY, (len(shifts), 1)), moved))
    size = 1 + np.abs(points).max()
    np.testing.assert_allclose(again, points @ turn.T + move, atol=1e-6 * size)
    np.testing.assert_allclose(turned, normals @ turn.T, atol=1e-6)
    # The root moves all points: it is the same motion told another way.
    root = ps.Pose(random_rotations(rng, len(shifts)), shifts)
    by_root = replace(root, translations=np.concatenate([move[None], shifts[1:]]))
    matrix = rotations.matrices(root.rotations[0])
    np.testing.assert_allclose(skin.pose(by_root)[0], points @ matrix.T + move, atol=1e-6 * size)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_players_give_what_the_reference_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_points_skin(rng)
    if rng.random() < 0.5:
        skin = replace(skin, detail=None)
    if rng.random() < 0.5:
        skin = skin.packed(int(rng.choice([8, 16, 32])))
    if rng.random() < 0.3:
        skin = replace(skin, layers=())
    motion = ps.Motion.from_poses([random_pose(rng, skin) for _ in range(3)])
    play = skin.compile()
    whole = [(points.copy(), normals.copy()) for points, normals in play.many(motion)]  # type: ignore[union-attr]
    for pose, many in zip(motion, whole, strict=True):
        want = skin.pose(pose)
        for found in (play(pose), many, play.clone()(pose)):
            assert found[1] is not None
            size = np.abs(want[0]).max()
            np.testing.assert_allclose(found[0], want[0], atol=2e-5 * size)
            np.testing.assert_allclose((found[1] * want[1]).sum(axis=1), 1, atol=2e-3)
        driven, wanted = play.drive(pose), skin.drive(pose)
        np.testing.assert_allclose(driven.transforms, wanted.transforms, atol=1e-5 * size)
        np.testing.assert_allclose(
            driven.amounts, wanted.amounts, atol=1e-5 * (1 + np.abs(wanted.amounts).max(initial=0))
        )
        for own, other in zip(driven.coordinates, wanted.coordinates, strict=True):
            np.testing.assert_allclose(own, other, atol=1e-6 * (1 + np.abs(other).max()))


def test_the_rest_pose_gives_the_rest_shape_whatever_the_weights() -> None:
    skin = random_points_skin(np.random.default_rng(0))
    still = replace(
        skin.bones,
        offsets=np.concatenate(
            [np.broadcast_to(rotations.IDENTITY, (4, 6, 4)), np.zeros((4, 6, skin.bones.offsets.shape[2] - 4))], axis=2
        ),
        coefficients=np.zeros(skin.bones.coefficients.shape),
    )
    skin = replace(skin, bones=still, layers=(), detail=None)
    np.testing.assert_allclose(skin.pose(skin.rig.rest)[0], skin.rig.mesh.points, atol=1e-9)


def test_a_file_keeps_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for bits in (32, 16, 8):
        skin = random_points_skin(rng).packed(bits)
        skin.save(tmp_path / "a.skin")
        again = ps.Skin.load(tmp_path / "a.skin")
        pose = random_pose(rng, skin)
        for a, b in zip(skin.pose(pose), again.pose(pose), strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_surface_follows_its_points_more_closely_the_larger_beta_is() -> None:
    rng = np.random.default_rng(2)
    skin = replace(random_points_skin(rng), layers=(), detail=None)
    pose = random_pose(rng, skin)
    places = skin.rig.skeleton.world(pose.rotations, pose.translations)[1:, :3, 3]
    gaps = []
    for beta in (0.1, 10.0, 1000.0):
        moved = replace(skin, bones=replace(skin.bones, beta=beta)).pose(pose)[0]
        gaps.append(np.linalg.norm(moved[skin.bones.points] - places))
    assert gaps[0] > gaps[1] > gaps[2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": np.array([0, 1, 2, 3, 19999])}, "vertices as in the rig"),
        ({"rest": np.zeros((5, 3))}, "a root and 5 control points"),
        ({"anchors": -np.ones(5)}, "at least 0"),
        ({"heat": np.zeros(4)}, "above 0"),
        ({"near": np.full((4, 3), 9)}, "indices from 0 to 4"),
        ({"blended": 9}, "models"),
        ({"beta": 0.0}, "beta: expected"),
        ({"samples": np.zeros((0, 5, 3))}, "samples"),
        ({"weights": np.zeros((22, 2))}, "do not sum to 0"),
        ({"influences": np.full((22, 2), 4)}, "indices from 0 to 3"),
        ({"holds": np.zeros((4, 3))}, "do not sum to 0"),
        ({"holds": np.ones((4, 2))}, "bones' holds: expected shape"),
        ({"corrections": np.zeros((9, 22, 3), np.float32)}, "expected at least 13 numbers per model"),
        ({"corrections": np.zeros((2, 5, 3), np.float32)}, "bones' corrections: expected shape"),
        ({"corrections": np.zeros(2, np.float32)}, "bones' corrections: expected shape"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(changes: dict[str, object], message: str) -> None:
    skin = random_points_skin(np.random.default_rng(6))
    with pytest.raises(ps.InputError, match=message) as raised:
        replace(skin, bones=replace(skin.bones, **changes))  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)
