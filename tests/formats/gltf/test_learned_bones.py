"""Version 2 of `POSESPACE_drivers`: skins of control points and with detail come back, and play without drivers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import run
from helpers.exported import paced
from helpers.gltf_files import only
from helpers.point_skins import SETTINGS, bent_arms, coarse, point_motion, point_skin
from helpers.samples import error_of
from helpers.strategies import random_points_skin, random_pose, random_skin, seeds
from hypothesis import given, settings

import posespace as ps
from posespace.formats import gltf
from posespace.formats.frames import Wanted
from posespace.formats.gltf import write as gltf_write
from posespace.formats.scene import Scene
from posespace.geometry.subdivision import fine_vertex_count
from posespace.poses.control_points import motion_from_shapes
from posespace.skin.basis import PackedBasis
from posespace.skin.bones.learned import MOST_BONES

DETAILED = "corrections and detail"


def silent(_: str) -> None:
    """Takes what an export has to say."""


def assert_same(back: ps.Skin, skin: ps.Skin, motion: ps.Motion, tolerance: float, degree: float = 1e-3) -> None:
    """Points agree to a fraction of the box, normals to a part of their length."""
    for pose in motion:
        (points, normals), (wanted, directions) = back.pose(pose), skin.pose(pose)
        size = max(skin.rig.mesh.diagonal, float(np.abs(wanted).max()))
        assert np.abs(points - wanted).max() < tolerance * size
        assert np.abs(normals - directions).max() < degree


@pytest.mark.parametrize("settings", [{}, {"unit": "cm", "up": "z"}], ids=["metres", "cm z"])
@pytest.mark.parametrize("kind", SETTINGS)
def test_a_file_is_read_back_as_the_same_skin(kind: str, settings: dict[str, str], tmp_path: Path) -> None:
    skin = point_skin(kind)
    for ending in (".glb", ".gltf"):
        ps.export(skin, tmp_path / f"arm{ending}", warn=silent, **settings)
        back = ps.Skin.load(tmp_path / f"arm{ending}")
        assert_same(back, skin, point_motion(skin, far=True), 1e-6)
    assert back.rig.skeleton.names == skin.rig.skeleton.names
    assert back.about == skin.about
    assert back.bones.beta == skin.bones.beta
    assert back.bones.blended == skin.bones.blended
    np.testing.assert_array_equal(back.bones.points, skin.bones.points)
    pose = point_motion(skin)[1]
    np.testing.assert_allclose(back.rig.skin(pose), skin.rig.skin(pose), atol=1e-6)


@pytest.mark.parametrize("compression", ["quantized", "meshopt"])
def test_compressed_files_are_read_back_but_for_the_rounding_of_weights(compression: str, tmp_path: Path) -> None:
    skin = point_skin(DETAILED)
    ps.export(skin, tmp_path / "arm.glb", warn=silent, compression=compression)
    assert_same(ps.Skin.load(tmp_path / "arm.glb"), skin, point_motion(skin), 1e-5, degree=0.01)


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_packed_numbers_stay_packed(bits: int, tmp_path: Path) -> None:
    skin = point_skin(DETAILED).packed(bits)
    ps.export(skin, tmp_path / "arm.glb", warn=silent, unit="mm", up="z")
    back = ps.Skin.load(tmp_path / "arm.glb")
    assert back.detail.heights.dtype == skin.detail.heights.dtype
    if bits < 32:
        assert isinstance(back.bones.corrections, PackedBasis)
        assert back.bones.corrections.bits == bits
        np.testing.assert_array_equal(back.bones.corrections.values, skin.bones.corrections.values)
        np.testing.assert_array_equal(back.detail.heights, skin.detail.heights)
    assert_same(back, skin, point_motion(skin, far=True), 1e-6)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_any_skin_of_control_points_comes_back(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_points_skin(rng)
    if rng.random() < 0.5:
        skin = skin.packed(int(rng.choice([8, 16, 32])))
    path = tmp_path_factory.mktemp("skin") / "any.glb"
    ps.export(skin, path, warn=silent, up=str(rng.choice(["y", "z"])))
    poses = [ps.Pose(skin.rig.rest.rotations, 0.3 * rng.normal(size=(len(skin.rig.skeleton), 3))) for _ in range(3)]
    assert_same(ps.Skin.load(path), skin, ps.Motion.from_poses(poses), 2e-5, degree=0.1)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_detail_over_joints_comes_back(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    path = tmp_path_factory.mktemp("skin") / "any.glb"
    notes: list[str] = []
    ps.export(skin, path, warn=notes.append)
    assert any("without the skin's detail" in note for note in notes)
    back = ps.Skin.load(path)
    pose = random_pose(rng, skin.rig)
    np.testing.assert_allclose(
        back.heights(pose), skin.heights(pose), atol=1e-5 * (1 + np.abs(skin.heights(pose)).max())
    )


@pytest.mark.parametrize(
    "settings", [{}, {"unit": "cm", "up": "z", "compression": "quantized"}], ids=["metres", "cm z"]
)
def test_the_motion_of_the_points_is_read_back(settings: dict[str, str], tmp_path: Path) -> None:
    skin = point_skin(DETAILED)
    motion = paced(point_motion(skin))
    ps.export(skin, tmp_path / "arm.glb", motion, warn=silent, **settings)
    back = ps.load_motion(tmp_path / "arm.glb", skin.rig.skeleton)
    assert back.control_names == ()
    keys = back[[int(np.abs(back.times - time).argmin()) for time in motion.times]]
    np.testing.assert_allclose(keys.translations, motion.translations, atol=1e-6)
    np.testing.assert_allclose(keys.rotations, motion.rotations, atol=1e-6)
    contents = gltf.read(tmp_path / "arm.glb")
    assert contents.notes == ()
    assert contents.morphs == {}
    rig = ps.load_rig(tmp_path / "arm.glb")
    assert rig.skeleton.names == skin.rig.skeleton.names
    # The file's own joints and motion fit each other, in metres.
    own = ps.load_motion(tmp_path / "arm.glb")
    plain = skin.rig.skin(motion[1]) * (0.01 if settings else 1.0)
    plain = np.stack([plain[:, 0], plain[:, 2], -plain[:, 1]], axis=1) if settings else plain
    np.testing.assert_allclose(rig.skin(own[12]), plain, atol=1e-4 * rig.mesh.diagonal)


@pytest.mark.parametrize("compression", ["none", "quantized"])
@pytest.mark.parametrize("kind", SETTINGS)
def test_without_drivers_the_file_shows_bones_and_corrections(kind: str, compression: str, tmp_path: Path) -> None:
    skin = point_skin(kind)
    motion = paced(point_motion(skin))
    ps.export(skin, tmp_path / "arm.gltf", motion, warn=silent, compression=compression)
    assert_plays_without_drivers(tmp_path / "arm.gltf", skin, motion)


def assert_plays_without_drivers(path: Path, skin: ps.Skin, motion: ps.Motion) -> None:
    """What is left without the extension gives the skin's points, without detail, to 1e-4 of the box."""
    bare = without_drivers(path)
    contents = gltf.read(bare, Wanted(rate="keys"))
    rig, played = only(contents), contents.motions["motion"]
    assert played.controls.min(initial=0) >= 0
    assert played.controls.max(initial=0) <= 1
    for time, pose in zip(motion.times, motion, strict=True):
        shown = played[int(np.abs(played.times - time).argmin())]
        moved = sum(
            (shown.controls[name] * morph.astype(np.float64) for name, morph in contents.morphs.items()), np.zeros(3)
        )
        wanted = coarse(skin).pose(pose)[0]
        points = rig.skin(shown, np.broadcast_to(moved, wanted.shape))
        assert np.abs(points - wanted).max() < 1e-4 * skin.rig.mesh.diagonal


def without_drivers(path: Path) -> Path:
    """The file as a program sees it that does not know the extension; where positions are on a grid, without it."""
    content = json.loads(path.read_text())
    grid = content["extensions"]["POSESPACE_drivers"].get("grid")
    content["extensions"]["POSESPACE_drivers"] = {} if grid is None else {"grid": grid}
    for mesh in content["meshes"]:
        mesh.pop("extensions", None)
    path.write_text(json.dumps(content))
    return path


def test_a_file_without_exact_numbers_is_read_in_single_precision(tmp_path: Path) -> None:
    skin = point_skin(DETAILED)
    ps.export(skin, tmp_path / "arm.gltf", warn=silent)
    content = json.loads((tmp_path / "arm.gltf").read_text())
    del block_of(content)["bones"]["exact"]
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    assert_same(ps.Skin.load(tmp_path / "arm.gltf"), skin, point_motion(skin), 1e-5)


def test_a_skin_at_rest_has_no_targets_for_others(tmp_path: Path) -> None:
    ps.export(point_skin(DETAILED), tmp_path / "arm.gltf", warn=silent)
    mesh = json.loads((tmp_path / "arm.gltf").read_text())["meshes"][0]
    assert "weights" not in mesh
    assert "extensions" not in mesh


def test_a_file_for_programs_that_know_drivers_alone_has_nothing_baked(tmp_path: Path) -> None:
    skin = point_skin(DETAILED)
    scene = Scene(skin, {"bend": paced(point_motion(skin))}, is_for_all=False)
    assert gltf_write.write(tmp_path / "arm.gltf", scene) == []
    content = json.loads((tmp_path / "arm.gltf").read_text())
    moved = {channel["target"]["node"] for channel in content["animations"][0]["channels"]}
    assert moved == {joint["node"] for joint in block_of(content)["joints"]}
    assert "weights" not in content["meshes"][0]
    assert_same(ps.Skin.load(tmp_path / "arm.gltf"), skin, point_motion(skin), 1e-6)


def test_every_command_takes_the_file(tmp_path: Path) -> None:
    skin, unseen = point_skin(DETAILED), bent_arms()[1]
    skin.save(tmp_path / "arm.skin")
    unseen.save(tmp_path / "unseen.examples")
    ps.export(skin, tmp_path / "arm.glb", paced(point_motion(skin, 2)), warn=silent)
    (told,) = json.loads(run("info", tmp_path / "arm.glb", "--json").stdout)
    assert next(iter(told["rigs"].values()))["joints"] == len(skin.rig.skeleton)
    scores = [
        json.loads(run("evaluate", tmp_path / f"arm{ending}", tmp_path / "unseen.examples", "--json").stdout)[-1]
        for ending in (".skin", ".glb")
    ]
    assert scores[0]["rms"] == pytest.approx(scores[1]["rms"], rel=1e-4)
    run("pose", tmp_path / "arm.glb", "--poses", tmp_path / "arm.glb", "--rate", "keys", "-o", tmp_path / "posed")
    assert len(list((tmp_path / "posed").glob("*.obj"))) == 13
    run("export", tmp_path / "arm.glb", "--motion", tmp_path / "arm.glb", "-o", tmp_path / "again.glb")
    assert_same(ps.Skin.load(tmp_path / "again.glb"), skin, point_motion(skin), 1e-6)


def block_of(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = content["extensions"]["POSESPACE_drivers"]
    return found


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 3),
        (("vertices",), 7),
        (("vertices",), None),
        (("bones",), []),
        (("bones", "points"), 10_000),
        (("bones", "points"), 0),
        (("bones", "samples"), "x"),
        (("bones", "near"), -1),
        (("bones", "blended"), 2),
        (("bones", "exact"), 10**9),
        (("bones", "exact"), -1),
        (("bones", "beta"), 0),
        (("bones", "beta"), "3"),
        (("bones", "plain"), {}),
        (("bones", "corrections", "bits"), 16),
        (("bones", "corrections", "bits"), 7),
        (("bones", "corrections", "values"), 0),
        (("detail", "levels"), 6),
        (("detail", "levels"), 7),
        (("detail", "levels"), 1),
        (("detail", "driver"), 0),
        (("detail", "bits"), 8),
        (("joints",), []),
        (("joints", 1, "node"), 0),
        (("joints", 1, "node"), 10**6),
    ],
)
def test_damaged_bones_and_detail_are_refused_in_one_line(
    place: tuple[Any, ...], value: object, tmp_path: Path
) -> None:
    ps.export(point_skin(DETAILED), tmp_path / "arm.gltf", warn=silent)
    content = json.loads((tmp_path / "arm.gltf").read_text())
    inner: Any = block_of(content)
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    assert str(tmp_path / "arm.gltf") in error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))


def test_vertices_in_another_order_are_refused(tmp_path: Path) -> None:
    ps.export(point_skin("bones alone"), tmp_path / "arm.gltf", warn=silent)
    content = json.loads((tmp_path / "arm.gltf").read_text())
    (mesh,) = content["meshes"]
    numbers = mesh["primitives"][0]["indices"]
    mesh["extensions"] = {"POSESPACE_drivers": {"vertices": [numbers]}}
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    assert "vertices" in error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))


def test_a_skin_of_several_meshes_says_which_vertex_each_is(tmp_path: Path) -> None:
    skin = point_skin(DETAILED)
    mesh = skin.rig.mesh
    count, half = len(mesh.points), len(mesh.triangles) // 2
    look = ps.look.Look(
        ("arm",), np.array([[0, count]]), np.array([[0, -1, half], [0, -1, len(mesh.triangles) - half]])
    )
    dressed = replace(skin, rig=replace(skin.rig, mesh=replace(mesh, look=look)))
    ps.export(dressed, tmp_path / "arm.gltf", warn=silent)
    content = json.loads((tmp_path / "arm.gltf").read_text())
    listed = content["meshes"][0]["extensions"]["POSESPACE_drivers"]["vertices"]
    assert len(listed) == 2
    assert content["accessors"][listed[0]]["count"] == count
    assert_same(ps.Skin.load(tmp_path / "arm.gltf"), skin, point_motion(skin), 1e-6)


def test_a_skin_joined_from_two_meshes_comes_back_and_plays_without_drivers(tmp_path: Path) -> None:
    train = ps.datasets.bending_arm(rings=10, sides=8)[0][::3]
    mesh, count, aside = train.rig.mesh, len(train.rig.mesh.points), np.array([0, 1, 0], np.float32)
    groups = np.array([[k, -1, len(mesh.triangles)] for k in (0, 1)])
    look = ps.look.Look(("left", "right"), np.array([[0, count], [1, count]]), groups)
    corners = np.concatenate([mesh.triangles, mesh.triangles + count])
    both = ps.Mesh(np.concatenate([mesh.points, mesh.points + aside]), corners, look=look)
    shapes = [np.concatenate([shape, shape + aside]) for _, shape in train]
    still = ps.Motion(train.motion.rotations[:, :1])
    examples = ps.Examples.from_shapes(ps.Rig.from_mesh(both), still, shapes)
    fine = fine_vertex_count(corners, 2 * count, 1)
    heights = 0.01 * np.sin(np.arange(len(train) * fine)).reshape(len(train), fine)
    skin = ps.ControlPoints(points=8, bones=12).fit(replace(examples, heights=heights, levels=1))
    motion = paced(motion_from_shapes(examples[:3], skin.rig, skin.bones.points))
    ps.export(skin, tmp_path / "arms.gltf", motion, warn=silent)
    back = ps.Skin.load(tmp_path / "arms.gltf")
    assert_same(back, skin, motion, 1e-6)
    assert back.rig.mesh.look.meshes == ("left", "right")
    content = json.loads((tmp_path / "arms.gltf").read_text())
    assert [mesh["extensions"]["POSESPACE_drivers"]["vertices"] != [] for mesh in content["meshes"]] == [True, True]
    assert_plays_without_drivers(tmp_path / "arms.gltf", skin, motion)


def test_as_many_bones_as_there_may_be_are_read_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    skin = replace(random_points_skin(rng), layers=(), detail=None)
    bones = skin.bones
    which = rng.integers(len(bones), size=MOST_BONES)
    arrays = {name: getattr(bones, name)[which] for name in ("near", "widths", "heat", "centres")}
    numbers = {name: getattr(bones, name)[which, ..., :4] for name in ("offsets", "coefficients")}
    influences = rng.integers(MOST_BONES, size=bones.influences.shape).astype(np.int32)
    many = replace(bones, **arrays, **numbers, influences=influences, holds=None, corrections=None)
    ps.export(replace(skin, bones=many), tmp_path / "many.glb", warn=silent)
    back = ps.Skin.load(tmp_path / "many.glb")
    # So many bones of so few vertices have no determined positions: only what is stored is compared.
    assert len(back.bones) == MOST_BONES
    np.testing.assert_array_equal(back.bones.near, many.near)
    np.testing.assert_allclose(back.bones.coefficients, many.coefficients, atol=1e-6)
