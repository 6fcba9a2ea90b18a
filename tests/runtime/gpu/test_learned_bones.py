"""The player on the GPU plays learned bones, their corrections and their detail as the reference does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.gpu_skins import ARM, UNSEEN, check
from helpers.strategies import random_points_skin, random_rotations, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.evaluation.score import angles_between
from posespace.geometry.subdivision import fine_vertex_count
from posespace.poses.control_points import motion_from_shapes
from posespace.runtime.gpu import on_device
from posespace.runtime.gpu.player import GPUPlayer
from posespace.skin.skin import Skin

NEAR, DEGREES = 1e-6, 0.05
"""How far points may be from the reference, over the diagonal of the box, and normals."""


@cache
def fitted(corrections: int, detailed: bool) -> Skin:
    """The arm with control points; its height maps are waves that a bend makes higher."""
    mesh = ARM.rig.mesh
    examples = ARM
    if detailed:
        wave = np.sin(np.arange(fine_vertex_count(mesh.triangles, len(mesh.points), 1)))
        heights = [0.01 * k / len(ARM) * mesh.diagonal * wave for k in range(len(ARM))]
        examples = replace(ARM, heights=np.array(heights), levels=1)
    return ps.ControlPoints(points=8, bones=20, corrections=corrections).fit(examples)


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("detailed", [False, True])
@pytest.mark.parametrize("corrections", [0, 1, 6])
def test_fitted_control_points_are_the_references(device: Any, corrections: int, detailed: bool, bits: int) -> None:
    skin = fitted(corrections, detailed).packed(bits)
    assert (skin.bones.correction_count, skin.bones.detail_count > 0) == (corrections, detailed)
    motion = motion_from_shapes(UNSEEN, skin.rig, skin.bones.points)[:4]
    size = skin.rig.mesh.diagonal
    with GPUPlayer(skin, device=device) as play:
        for pose, many in zip(motion, [(p.copy(), n.copy()) for p, n in play.many(motion)], strict=True):  # type: ignore[union-attr]
            points, normals = skin.pose(pose)
            for found in (play(pose), many, play.clone()(pose)):
                assert np.abs(found[0] - points).max() < NEAR * size
                assert angles_between(found[1], normals).max() < DEGREES


@settings(max_examples=25)
@given(seeds, st.sampled_from([None, 32, 16, 8]), st.sampled_from(["bones", "layer", "detail"]), st.booleans())
def test_any_learned_bones_in_any_pose_are_the_references(
    device: Any, seed: int, bits: int | None, kind: str, normals: bool
) -> None:
    rng = np.random.default_rng(seed)
    skin = random_points_skin(rng)
    if kind != "detail":
        skin = replace(skin, detail=None, layers=skin.layers if kind == "layer" else ())
    skin = skin if bits is None else skin.packed(bits)
    joints = len(skin.rig.skeleton)
    with GPUPlayer(skin, normals=normals, device=device) as play:
        for _ in range(2):
            check(skin, ps.Pose(random_rotations(rng, joints), rng.normal(size=(joints, 3))), play)


def test_limits_hold_far_from_the_examples(device: Any) -> None:
    skin = replace(fitted(6, False), detail=None)
    bare = replace(skin, bones=replace(skin.bones, corrections=np.zeros_like(skin.bones.corrections)))  # type: ignore[type-var]
    rest = skin.rig.rest
    with GPUPlayer(skin, device=device) as play, GPUPlayer(bare, device=device) as plain:
        for seed in range(5):
            shifts = np.random.default_rng(seed).normal(size=rest.translations.shape) * 0.5
            pose = ps.Pose(rest.rotations, shifts)
            check(skin, pose, play)
            check(bare, pose, plain)


def test_more_numbers_than_a_uniform_buffer_holds(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_device, "_MOST_UNIFORM", 8)
    skin = fitted(6, False)
    pose = motion_from_shapes(UNSEEN, skin.rig, skin.bones.points)[2]
    check(skin, pose, GPUPlayer(skin, device=device))
