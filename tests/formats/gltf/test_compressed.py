"""Files that are quantized, or compressed by meshopt: read back as the skin they were made of, or refused."""

from __future__ import annotations

import json
import struct
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import assert_one_line, run
from helpers.gltf_files import only
from helpers.samples import error_of
from helpers.strategies import random_skin, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import InputError
from posespace.formats import gltf
from posespace.formats.gltf.grid import Grid, whole_weights

BOTH = ["quantized", "meshopt"]


@cache
def arm(bits: int = 16) -> tuple[ps.Skin, ps.Motion]:
    train, unseen = ps.datasets.bending_arm(rings=14, sides=9)
    return ps.EigenSkin(normals="shared", bits=bits).fit(train), unseen.motion


def written(folder: Path, compression: str, name: str = "arm.glb", bits: int = 16) -> Path:
    ps.export(arm(bits)[0], folder / name, compression=compression)
    return folder / name


def parsed(path: Path) -> tuple[dict[str, Any], bytearray]:
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), bytearray(data[28 + length :])


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("compression", BOTH)
def test_a_compressed_file_is_read_back_as_nearly_the_same_skin(compression: str, bits: int, tmp_path: Path) -> None:
    skin, poses = arm(bits)
    back = ps.Skin.load(written(tmp_path, compression, bits=bits))
    assert [layer.name for layer in back.layers] == [layer.name for layer in skin.layers]
    for pose in poses:
        (points, normals), (wanted, directions) = back.pose(pose), skin.pose(pose)
        assert np.abs(points - wanted).max() < 1e-4 * skin.rig.mesh.diagonal
        assert np.degrees(np.arccos(np.clip((normals * directions).sum(axis=1), -1, 1))).max() < 2


@settings(max_examples=15)
@given(seed=seeds)
def test_random_skins_come_back_within_the_rounding(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = np.random.default_rng(seed)
    made = random_skin(rng)
    skin = ps.Skin(made.rig, made.layers)
    path = tmp_path_factory.mktemp("random") / "some.glb"
    ps.export(skin, path, warn=lambda _: None, compression="meshopt")
    back = ps.Skin.load(path)
    pose = ps.Pose(rng.normal(size=(len(skin.rig.skeleton), 4)), controls={name: 0.3 for name in skin.control_names})
    coordinates = max((float(np.abs(each).max()) for each in skin.drive(pose)[1]), default=0.0)
    grid = Grid.of(gltf.buffers.Document(path).root)
    assert grid is not None
    rounding = grid.size / skin.rig.mesh.unit / 32767 * (1 + 30 * max(1.0, coordinates))
    assert np.abs(back.rig.mesh.points - skin.rig.mesh.points).max() < rounding
    assert np.abs(back.displacements(pose) - skin.displacements(pose)).max() < rounding


@pytest.mark.parametrize("compression", BOTH)
def test_the_rig_and_its_clip_are_in_metres(compression: str, tmp_path: Path) -> None:
    skin, motion = arm()
    ps.export(skin, tmp_path / "arm.glb", motion, compression=compression)
    contents = gltf.read(tmp_path / "arm.glb")
    np.testing.assert_allclose(
        only(contents).mesh.points, skin.rig.mesh.unit * skin.rig.mesh.points, atol=1e-4 * skin.rig.mesh.unit
    )
    assert only(contents).skeleton.same_as(skin.rig.skeleton)


def test_each_step_makes_the_file_smaller(tmp_path: Path) -> None:
    sizes = [written(tmp_path, each).stat().st_size for each in ("none", *BOTH)]
    binary = [len(parsed(written(tmp_path, each))[1]) for each in ("none", *BOTH)]
    assert sizes[1] < sizes[0]
    assert binary[2] < 0.7 * binary[1] < 0.5 * binary[0]


@given(st.lists(st.lists(st.floats(0.001, 1), min_size=4, max_size=4), min_size=1, max_size=20))
def test_whole_weights_sum_to_one(rows: list[list[float]]) -> None:
    weights = -np.sort(-np.array(rows), axis=1)
    weights /= weights.sum(axis=1, keepdims=True)
    found = whole_weights(weights)
    assert (found.astype(int).sum(axis=1) == 65535).all()
    assert np.abs(found / 65535 - weights).max() < 4 / 65535


def test_damaged_bytes_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    path = written(tmp_path, "meshopt")
    data, rng = path.read_bytes(), np.random.default_rng(0)
    (length,) = struct.unpack_from("<I", data, 12)
    for _ in range(60):
        damaged = bytearray(data)
        for at in rng.integers(28 + length, len(data), size=rng.integers(1, 40)):
            damaged[at] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            ps.Skin.load(path)
        except InputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("count", 10**9),
        ("count", 0),
        ("byteStride", 7),
        ("mode", "BOOM"),
        ("filter", "BOOM"),
        ("byteLength", 2),
        ("buffer", 9),
    ],
)
def test_a_compressed_view_that_lies_is_refused(field: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "arm.gltf"
    written(tmp_path, "meshopt", path.name)
    content = json.loads(path.read_text())
    view = content["accessors"][content["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]["bufferView"]
    content["bufferViews"][view]["extensions"]["EXT_meshopt_compression"][field] = value
    path.write_text(json.dumps(content))
    assert str(path) in error_of(lambda: ps.Skin.load(path))


@pytest.mark.parametrize("value", [[0, 0, 0, 0], [0, 0, 0], [0, 0, 0, -1], "big"])
def test_a_grid_without_a_size_is_refused(value: object, tmp_path: Path) -> None:
    path = tmp_path / "arm.gltf"
    written(tmp_path, "quantized", path.name)
    content = json.loads(path.read_text())
    content["extensions"]["POSESPACE_drivers"]["grid"] = value
    path.write_text(json.dumps(content))
    assert str(path) in error_of(lambda: ps.Skin.load(path))


def test_without_the_extra_files_are_read_and_writing_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "meshopt")
    monkeypatch.setitem(sys.modules, "meshopt", None)
    assert ps.Skin.load(path).layers
    assert "posespace[meshopt]" in error_of(lambda: written(tmp_path, "meshopt", "other.glb"))
    assert not (tmp_path / "other.glb").exists()


def test_the_command_compresses_and_other_commands_read_it(tmp_path: Path) -> None:
    arm()[0].save(tmp_path / "arm.skin")
    done = run("export", "arm.skin", "-o", "arm.glb", "--compression", "meshopt", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run("info", "arm.glb", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_one_line(run("export", "arm.skin", "-o", "b.glb", "--compression", "zip", folder=tmp_path), "meshopt")
    assert_one_line(run("export", "arm.skin", "-o", "b.html", "--compression", "meshopt", folder=tmp_path), "page")
