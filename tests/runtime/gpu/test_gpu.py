"""The player on the GPU gives the numbers of the reference, for every skin."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.gpu_skins import ARM, POSE, UNSEEN, check, driver, eigen, nonzero_controls
from helpers.sculpts import random_sculpts
from helpers.strategies import random_pose, random_rig, random_skin, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.mesh import Mesh
from posespace.rig import BLENDINGS
from posespace.runtime.gpu import webgpu
from posespace.runtime.gpu.player import GPUPlayer
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin


@pytest.mark.parametrize("blending", sorted(BLENDINGS))
def test_plain_skinning_is_the_references(device: Any, blending: str) -> None:
    skin = Skin(replace(ARM.rig, blending=blending))
    with GPUPlayer(skin, device=device) as play:
        for pose in UNSEEN.motion[:4]:
            check(skin, pose, play)


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("normals", ["none", "shared", "separate"])
def test_eigenskin_is_the_references(device: Any, normals: str, bits: int) -> None:
    skin = eigen(normals, bits)
    with GPUPlayer(skin, device=device) as play:
        for pose in UNSEEN.motion[:4]:
            check(skin, pose, play)


@pytest.mark.parametrize("normals", ["none", "shared"])
def test_eigenskin_over_dual_quaternions_is_the_references(device: Any, normals: str) -> None:
    skin = eigen(normals, 16, "dual_quaternion")
    check(skin, POSE, GPUPlayer(skin, device=device))


def test_dense_layers_are_the_references(device: Any) -> None:
    rng = np.random.default_rng(3)
    examples = random_sculpts(rng, random_rig(rng), 8)
    skin = ps.PSD().fit(examples)
    with GPUPlayer(skin, device=device) as play:
        for pose in examples.motion:
            check(skin, pose, play)


@settings(max_examples=25)
@given(
    seeds,
    st.sampled_from([None, 32, 16, 8]),
    st.sampled_from(sorted(BLENDINGS)),
    st.sampled_from(["plain", "surface", "corrected", "detail"]),
    st.booleans(),
)
def test_any_skin_in_any_pose_is_the_references(
    device: Any, seed: int, bits: int | None, blending: str, kind: str, normals: bool
) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    if kind != "detail":
        skin = replace(skin, detail=None, layers=() if kind == "plain" else skin.layers)
    if kind == "surface":
        skin = replace(skin, layers=tuple(replace(x, normal_basis=None, normal_driver=None) for x in skin.layers))
    skin = replace(skin, rig=replace(skin.rig, blending=blending))
    skin = skin if bits is None else skin.packed(bits)
    with GPUPlayer(skin, normals=normals, device=device) as play:
        for _ in range(2):
            check(skin, random_pose(rng, skin.rig), play)


def test_a_skin_of_controls_alone(device: Any) -> None:
    skin = nonzero_controls(ARM.rig.mesh)
    with GPUPlayer(skin, device=device) as play:
        for value in (0.0, 0.3, 1.0):
            check(skin, ps.Pose([[0, 0, 0, 1]], controls={"smile": value}), play)


@pytest.mark.parametrize("columns", [127, 129])
def test_many_columns_of_eight_bits(device: Any, columns: int) -> None:
    skin = nonzero_controls(Mesh(ARM.rig.mesh.points[:50], np.zeros((0, 3), int)), columns).packed(8)
    check(skin, ps.Pose([[0, 0, 0, 1]], controls={"smile": 0.4}), GPUPlayer(skin, device=device))


@pytest.mark.parametrize("vertices", [0, 1, 63, 64, 65])
def test_few_vertices(device: Any, vertices: int) -> None:
    mesh = Mesh(np.random.default_rng(0).normal(size=(vertices, 3)), np.zeros((0, 3), int))
    skin = nonzero_controls(mesh)
    for each in (skin, Skin(skin.rig)):
        check(each, ps.Pose([[0, 0, 0, 1]], controls={"smile": 0.4}), GPUPlayer(each, device=device))


def test_a_layer_that_moves_nothing(device: Any) -> None:
    empty = Layer("nothing", driver(ARM.rig), np.zeros(0, int), np.zeros((2, 0, 3)))
    skin = Skin(ARM.rig, (empty,))
    check(skin, POSE, GPUPlayer(skin, device=device))


def test_more_bones_than_a_uniform_buffer_holds_and_hundreds_at_a_vertex(device: Any) -> None:
    rng = np.random.default_rng(2)
    rig = random_rig(rng, vertices=30, joints=1400)
    skin = Skin(rig)
    check(skin, random_pose(rng, rig, 0.2), GPUPlayer(skin, device=device))


def test_a_seam_has_one_normal(device: Any) -> None:
    mesh = eigen().rig.mesh
    corners = mesh.triangles.ravel()
    apart = Mesh(mesh.points[corners], np.arange(len(corners)).reshape(-1, 3))
    skin = nonzero_controls(apart)
    skin = replace(skin, layers=(replace(skin.layers[0], basis=np.zeros(skin.layers[0].basis.shape)),))
    check(skin, ps.Pose([[0, 0, 0, 1]]), GPUPlayer(skin, device=device))


def test_a_pole_of_many_triangles(device: Any) -> None:
    angle = np.linspace(0, 2 * np.pi, 201)[:-1]
    rim = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    ring = np.arange(200)
    mesh = Mesh(np.concatenate([rim, [[0, 0, 1.0]]]), np.stack([ring, (ring + 1) % 200, 0 * ring + 200], axis=1))
    skin = nonzero_controls(mesh)
    skin = replace(skin, layers=(replace(skin.layers[0], basis=0.05 * np.asarray(skin.layers[0].basis)),))
    check(skin, ps.Pose([[0, 0, 0, 1]], controls={"smile": 0.4}), GPUPlayer(skin, device=device))


def test_several_rows_of_work_groups(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert webgpu.groups_of(10_000_000, 64, 65535) == (52084, 3)
    rows = webgpu.groups_of
    monkeypatch.setattr(webgpu, "groups_of", lambda count, size, most: rows(count, size, 2))
    for skin in (Skin(ARM.rig), eigen()):
        check(skin, POSE, GPUPlayer(skin, device=device))


def test_many_poses_are_the_single_ones(device: Any, tmp_path: Path) -> None:
    motion, skin = UNSEEN.motion[:5], eigen()
    play = GPUPlayer(skin, device=device)
    single = [play(pose) for pose in motion]
    shape = (len(motion), play.vertices, 3)
    points = np.memmap(tmp_path / "points", np.float32, "w+", shape=shape)
    normals = np.zeros(shape, np.float32)
    for index, (here, turned) in enumerate(play.many(motion, points, normals)):
        assert np.shares_memory(here, points)
        np.testing.assert_array_equal(here, single[index][0])
        np.testing.assert_array_equal(turned, single[index][1])
    stream = play.many(motion)
    first = next(stream)[0].copy()
    play(motion[4])  # A call between takes nothing from the stream.
    np.testing.assert_array_equal([first, *(made.copy() for made, _ in stream)], points)
    assert list(play.many(motion[:0])) == []


def test_many_poses_of_a_skin_with_detail(device: Any) -> None:
    rng = np.random.default_rng(0)
    skin = random_skin(rng)
    motion = ps.Motion.from_poses([random_pose(rng, skin.rig) for _ in range(3)])
    play = GPUPlayer(skin, normals=False, device=device)
    for pose, (points, normals) in zip(motion, play.many(motion), strict=True):
        assert normals is None
        np.testing.assert_array_equal(points, play(pose)[0])


def test_a_clone_has_its_own_buffers_on_the_same_device(device: Any) -> None:
    for skin in (eigen(), eigen("shared"), eigen(blending="dual_quaternion")):
        play = GPUPlayer(skin, device=device)
        other = play.clone()
        assert other.device is play.device
        play.dispatch(POSE)
        check(skin, UNSEEN.motion[0], other)
        check(skin, POSE, play)
        other.close()
        check(skin, POSE, play)


FORKED = """
import os, posespace as ps
rig = ps.datasets.bending_arm(rings=8, sides=5)[0].rig
play = ps.Skin(rig).compile("gpu")
play(rig.rest)
child = os.fork()
if child == 0:
    try:
        play(rig.rest)
    except ps.InputError as error:
        os._exit(0 if "a forked process has no device" in str(error) else 3)
    os._exit(4)
print(os.waitpid(child, 0)[1], play(rig.rest)[0].shape == rig.mesh.points.shape)
"""


@pytest.mark.usefixtures("device")
def test_in_a_forked_process_a_player_raises_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0 True", done.stderr
