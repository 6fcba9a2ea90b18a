"""Posed surfaces in a real browser: learned bones, corrections and detail, by WebGLRenderer and by WebGPURenderer."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.played import assert_same, exported, poses_of, rows
from helpers.point_skins import SETTINGS, coarse, point_motion, point_skin
from helpers.split_primitives import split
from helpers.strategies import random_points_skin, random_pose, random_skin

import posespace as ps
from posespace.look import Look

SCRIPTS = Path(__file__).parents[2] / "player" / "tests"
DETAILED = "corrections and detail"
ADAPTER = "async () => navigator.gpu ? (await navigator.gpu.requestAdapter()) !== null : false"
NEAR = 1e-5
"""How far points may be from the library's, as a fraction of the box."""


@pytest.fixture(scope="module")
def page(bundled: Callable[..., str], opened: Callable[..., Any]) -> Any:
    page = opened(bundled(SCRIPTS / "posed.ts"))
    page.add_script_tag(content=bundled(SCRIPTS / "capture.ts"))
    page.add_script_tag(content=bundled(SCRIPTS / "life.ts"))
    return page


@pytest.fixture(scope="module")
def skin() -> ps.Skin:
    return point_skin(DETAILED)


@pytest.fixture(scope="module")
def file(skin: ps.Skin, tmp_path_factory: pytest.TempPathFactory) -> str:
    return exported(skin, tmp_path_factory.mktemp("posed"), warn=lambda _: None)


def looked(skin: ps.Skin) -> ps.Skin:
    """The skin in two materials that share their vertices, with texture coordinates."""
    mesh = skin.rig.mesh
    count, half = len(mesh.triangles), len(mesh.triangles) // 2
    look = Look(
        meshes=("arm",),
        blocks=np.array([[0, len(mesh.points)]]),
        groups=np.array([[0, 0, half], [0, 1, count - half]]),
        attributes={"TEXCOORD_0": mesh.points[:, :2].astype(np.float32)},
        materials=({"name": "upper"}, {"name": "lower"}),
    )
    return replace(skin, rig=replace(skin.rig, mesh=replace(mesh, look=look)))


@pytest.mark.parametrize("kind", SETTINGS)
def test_both_points_and_normals_are_drawn(kind: str, page: Any, tmp_path: Path) -> None:
    skin = point_skin(kind)
    motion = point_motion(skin, far=True)
    given = [exported(skin, tmp_path, warn=lambda _: None), poses_of(motion, skin.rig.mesh.unit)]
    made = page.evaluate("([file, poses]) => capture(file, poses)", given)
    assert made["errors"] == []
    assert_same(skin, motion, made["captures"])


@pytest.mark.parametrize("over", ["control points", "joints"])
def test_layers_and_detail_are_drawn_together(over: str, page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    skin = random_skin(rng) if over == "joints" else random_points_skin(rng)
    poses = [random_pose(rng, skin.rig) for _ in range(3)]
    if over == "control points":
        poses = [replace(skin.rig.rest, translations=pose.translations) for pose in poses]
    motion = ps.Motion.from_poses(poses)
    given = [exported(skin, tmp_path, warn=lambda _: None), poses_of(motion, skin.rig.mesh.unit)]
    made = page.evaluate("([file, poses]) => capture(file, poses)", given)
    assert made["errors"] == []
    assert skin.layers
    assert_same(skin, motion, made["captures"])


@pytest.mark.parametrize("backend", ["webgpu", "webgl"])
def test_nodes_draw_the_same(
    backend: str, bundled: Callable[..., str], opened: Callable[..., Any], skin: ps.Skin, file: str
) -> None:
    page = opened(bundled(SCRIPTS / "capture_webgpu.ts"))
    if backend == "webgpu" and not page.evaluate(ADAPTER):
        pytest.skip("this browser has no WebGPU, nor one in software")
    motion = point_motion(skin)
    given = [file, poses_of(motion, skin.rig.mesh.unit), backend == "webgl"]
    made = page.evaluate("([file, poses, webgl]) => captureNodes(file, poses, webgl)", given)
    assert made["backend"] == backend
    assert_same(skin, motion, made["captures"])
    assert page.said == []


@pytest.mark.parametrize("compression", ["quantized", "meshopt"])
def test_compressed_files_play_the_same(compression: str, page: Any, skin: ps.Skin, tmp_path: Path) -> None:
    motion = point_motion(skin)
    given = exported(skin, tmp_path, warn=lambda _: None, compression=compression)
    made = page.evaluate("([file, poses]) => capture(file, poses)", [given, poses_of(motion, skin.rig.mesh.unit)])
    assert made["errors"] == []
    assert_same(skin, motion, made["captures"], degrees=5.0)


def test_a_skin_that_is_moved_as_a_whole_takes_its_points_along(page: Any, skin: ps.Skin, file: str) -> None:
    pose = point_motion(skin)[3]
    found = page.evaluate("(all) => placed(...all)", [file, poses_of(point_motion(skin), 1.0)[3]])
    matrix = np.reshape(found["matrix"], (4, 4)).T
    points, normals = skin.pose(pose)
    wanted = points * skin.rig.mesh.unit @ matrix[:3, :3].T + matrix[:3, 3]
    near = 2 * NEAR * skin.rig.mesh.diagonal
    assert np.abs(rows(found["vertices"]) - wanted).max() < near
    assert found["numbers"] == skin.bones.points.tolist()
    assert found["names"] == list(skin.rig.skeleton.names[1:])
    assert np.abs(rows(found["positions"]) - wanted[skin.bones.points]).max() < near
    turned = normals[skin.bones.points] @ matrix[:3, :3].T / 2
    assert np.abs(rows(found["normals"]) - turned).max() < 1e-2
    assert np.abs(rows(found["box"]) - [wanted.min(axis=0), wanted.max(axis=0)]).max() < near
    # A ray that begins above a point meets the surface there, or a wrinkle beside it.
    assert np.abs(found["hits"]).max() < 0.05


def test_corrections_detail_and_beta_can_be_changed(page: Any, skin: ps.Skin, file: str) -> None:
    motion, unit = point_motion(skin, far=True), skin.rig.mesh.unit
    settings = [
        {"beta": 0.2},
        {"beta": skin.bones.beta, "detail": False},
        {"enabled": False},
        {"enabled": True, "detail": True},
    ]
    found = page.evaluate("(all) => shown(...all)", [file, poses_of(motion, unit)[2], settings])
    others = [
        replace(skin, bones=replace(skin.bones, beta=0.2)),
        coarse(skin),
        ps.Skin(skin.rig),
        skin,
    ]
    for got, other in zip(found, others, strict=True):
        wanted = other.pose(motion[2])[0]
        assert np.abs(rows(got)[: len(wanted)] / unit - wanted).max() < NEAR * skin.rig.mesh.diagonal


def test_a_clip_moves_the_points_and_nothing_else(page: Any, skin: ps.Skin, tmp_path: Path) -> None:
    motion = replace(point_motion(skin), times=np.arange(5) / 2)
    given = exported(skin, tmp_path, warn=lambda _: None, motion=motion, rate=2.0)
    found = page.evaluate("(all) => clip(...all)", [given, motion.times.tolist()[:-1]])
    assert {name.split(".")[0] for name in found["tracks"]} <= set(skin.rig.skeleton.names)
    assert not [name for name in found["nodes"] if name.startswith("bone")]
    assert found["said"] == []
    for played in (found["first"], found["copy"]):
        for got, pose in zip(played, motion, strict=False):
            off = np.abs(rows(got) / skin.rig.mesh.unit - skin.pose(pose)[0]).max()
            assert off < 1e-4 * skin.rig.mesh.diagonal


def test_a_copy_moves_by_itself_and_outlives_the_first(page: Any, skin: ps.Skin, file: str) -> None:
    motion = point_motion(skin)
    poses = poses_of(motion, skin.rig.mesh.unit)
    *found, errors = page.evaluate("(all) => copies(...all)", [file, poses[0], poses[3]])
    for vertices, pose in zip(found, [motion[0], motion[3], motion[3]], strict=True):
        off = np.abs(rows(vertices) / skin.rig.mesh.unit - skin.pose(pose)[0]).max()
        assert off < NEAR * skin.rig.mesh.diagonal
    assert errors == [0, 0]


def test_ten_copies_come_and_go_without_a_trace(page: Any, file: str) -> None:
    counts = page.evaluate("([file]) => comeAndGo(file, 10, 12)", [file])
    assert counts[-1] == counts[1]


@pytest.mark.parametrize("with_seams", [False, True], ids=["shared vertices", "split vertices"])
def test_several_materials_have_one_surface(with_seams: bool, page: Any, skin: ps.Skin, tmp_path: Path) -> None:
    ps.export(looked(skin), tmp_path / "arm.gltf", warn=lambda _: None)
    content = json.loads((tmp_path / "arm.gltf").read_text())
    if with_seams:
        split(content, primitive=1)
    meshes = page.evaluate("([file]) => attributes(file)", [base64.b64encode(json.dumps(content).encode()).decode()])
    assert [mesh["names"] for mesh in meshes] == 2 * [["position", "normal", "uv"]]
    wanted = skin.pose(skin.rig.rest)[0]
    fine = skin.mesh.triangles
    for mesh, triangles in zip(meshes, np.split(fine, [len(fine) // 2]), strict=True):
        corners, near = np.array(mesh["index"]), NEAR * skin.rig.mesh.diagonal
        assert np.abs(rows(mesh["points"])[corners] - wanted[triangles.ravel()]).max() < near
        uv = np.reshape(mesh["uv"], (-1, 2))[corners]
        assert np.abs(uv - skin.mesh.points[triangles.ravel(), :2]).max() < near
    if with_seams:
        # A triangle that is split twice and shares no vertex has fifteen.
        assert len(rows(meshes[1]["points"])) == 15 * (len(fine) // 2 // 16)
