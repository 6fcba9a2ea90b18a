"""The bone stage: both kinds answer every question that callers ask, and a skin poses by their answers alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import random_points_skin, random_pose, random_rig, random_skin, seeds
from hypothesis import given, settings

import posespace as ps
from posespace.geometry import skinning
from posespace.rig import BLENDINGS
from posespace.skin.bones.learned import LearnedBones, learned_bones
from posespace.skin.bones.skeleton import SkeletonBones
from posespace.skin.bones.stage import BoneStage

KINDS = {"skeleton": random_skin, "learned": random_points_skin}


def made(kind: str, seed: int) -> tuple[ps.Skin, ps.Pose]:
    rng = np.random.default_rng(seed)
    skin = KINDS[kind](rng)
    return skin, replace(random_pose(rng, skin.rig), controls={})


def test_a_skin_of_a_rig_alone_has_the_bones_of_its_skeleton() -> None:
    rig = random_rig(np.random.default_rng(0))
    skin = ps.Skin(rig)
    assert isinstance(skin.bones, SkeletonBones)
    assert skin.binding.influences is rig.influences
    assert skin.binding.bone_count == len(rig.skeleton)
    pose = random_pose(np.random.default_rng(1), rig)
    np.testing.assert_array_equal(skin.drive(pose).transforms, rig.transforms(pose))
    with pytest.raises(ps.InputError, match="bones: expected a BoneStage, got NoneType"):
        ps.Skin(rig, bones=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_answers_what_callers_ask(kind: str) -> None:
    skin, pose = made(kind, 3)
    bones, rig = skin.bones, skin.rig
    assert isinstance(bones, BoneStage)
    influences, weights, count = bones.binding(rig)
    assert influences.shape == weights.shape == (len(rig.mesh.points), influences.shape[1])
    assert influences.max() < count
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)
    transforms, amounts = bones.drive(pose, rig)
    assert transforms.shape == (count, 3, 4)
    assert amounts.shape == (count, bones.correction_count + bones.detail_count)
    displacements, limits = bones.corrections_of(rig)
    assert displacements.shape == (bones.correction_count, len(rig.mesh.points), 3)
    assert limits.shape == (len(rig.mesh.points),)
    assert (limits > 0).all()
    assert (bones.points < len(rig.mesh.points)).all()
    assert bones.centres.shape == (len(bones.centres), 3)
    assert len(bones.centres) in (0, count)
    assert bones.links(rig) is None or len(bones.links(rig)) == len(rig.skeleton)
    np.testing.assert_array_equal(skin.points, bones.points)
    for bits in (8, 16, 32):
        assert type(bones.packed(bits)) is type(bones)
    assert bool(bones.stored().arrays) == bool(bones.stored().numbers) == bool(bones.figures())


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, deadline=None)
@given(seeds)
def test_what_drive_returns_is_all_that_the_later_stages_need(kind: str, seed: int) -> None:
    skin, pose = made(kind, seed)
    driven = skin.drive(pose)
    rest = skin.rig.mesh.points + skin.displacements(pose) + skin.corrections(driven.amounts)
    blend = BLENDINGS[skin.rig.blending](driven.transforms, *skin.binding[:2])
    wanted = replace(skin, detail=None).pose(pose)[0]
    np.testing.assert_allclose(skinning.apply(blend, rest), wanted, atol=1e-12 * (1 + np.abs(wanted).max()))
    for layer, coordinates, normal_coordinates in zip(
        skin.layers, driven.coordinates, driven.normal_coordinates, strict=True
    ):
        assert len(coordinates) == layer.driver.components
        assert len(normal_coordinates) == (layer.normal_driver or layer.driver).components
    assert skin.detail is not None
    components = 0 if skin.detail.driver is None else skin.detail.driver.components
    assert driven.detail_coordinates.shape == (components,)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, deadline=None)
@given(seeds)
def test_players_drive_as_the_reference_does(kind: str, seed: int) -> None:
    skin, pose = made(kind, seed)
    for found, wanted in zip(skin.compile().drive(pose), skin.drive(pose), strict=True):
        for own, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(own, other, atol=1e-5 * (1 + np.abs(other).max(initial=0)))


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_an_aligned_pose_and_its_rigid_motion_give_the_pose_back(seed: int) -> None:
    skin, pose = made("learned", seed)
    aligned, rotation, translation = skin.aligned(pose)
    assert not aligned.translations[0].any()
    back, _ = skin.pose(aligned)
    size = 1 + np.abs(back).max()
    np.testing.assert_allclose(back @ rotation.T + translation, skin.pose(pose)[0], atol=1e-6 * size)
    again, identity, nothing = skin.aligned(aligned)
    np.testing.assert_allclose(again.translations, aligned.translations, atol=1e-6 * size)
    np.testing.assert_allclose(identity, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(nothing, 0, atol=1e-6 * size)


def test_another_mesh_has_other_limits_and_positions() -> None:
    skin, pose = made("learned", 1)
    bones = learned_bones(skin.bones, "skin")
    assert isinstance(bones, LearnedBones)
    stretched = replace(skin.rig.mesh, points=skin.rig.mesh.points * np.float32([1, 1, 1.001]))
    other = replace(skin, rig=replace(skin.rig, mesh=stretched))
    assert bones.positions(skin.rig.mesh) is bones.positions(skin.rig.mesh)
    first, second = skin.transforms(pose), other.transforms(pose)
    assert np.abs(first - second).max() > 1e-6
    np.testing.assert_array_equal(skin.transforms(pose), first)


def test_bones_of_joints_are_refused_where_control_points_are_expected() -> None:
    with pytest.raises(ps.InputError, match="beta: expected a skin with control points, got one that joints move"):
        learned_bones(SkeletonBones(), "beta")
