"""`POSESPACE_drivers`: read back as the same skin, and evaluated by a script that follows docs/drivers.md alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.drivers_page import coordinates_at, parsed
from helpers.growing import cut_arm, factors, far_motion, growing_skin
from helpers.samples import error_of
from helpers.strategies import random_skin

import posespace as ps
from posespace.skin.basis import PackedBasis

FITS: dict[str, Callable[[], Any]] = {
    "PSD": ps.PSD,
    "EigenSkin 16": lambda: ps.EigenSkin(normals="shared"),
    "EigenSkin 8": lambda: ps.EigenSkin(normals="separate", bits=8),
    "EigenSkin 32": lambda: ps.EigenSkin(bits=32),
    "Muscles": lambda: ps.Muscles(signals=3),
}


@pytest.fixture(scope="module")
def arm() -> tuple[ps.Examples, ps.Examples]:
    return ps.datasets.bending_arm(rings=14, sides=9)


@pytest.mark.parametrize("name", FITS)
def test_a_file_is_read_back_as_the_same_skin(name: str, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    train, unseen = arm
    skin = FITS[name]().fit(train)
    ps.export(skin, tmp_path / "arm.glb")
    back = ps.Skin.load(tmp_path / "arm.glb")
    for pose in unseen.motion:
        (points, normals), (wanted, directions) = back.pose(pose), skin.pose(pose)
        assert np.abs(points - wanted).max() < 1e-6 * train.rig.mesh.diagonal
        assert np.abs(normals - directions).max() < 1e-4
    assert [layer.name for layer in back.layers] == [layer.name for layer in skin.layers]
    for mine, layer in zip(back.layers, skin.layers, strict=True):
        if isinstance(layer.basis, PackedBasis) and layer.basis.bits < 32:
            assert isinstance(mine.basis, PackedBasis)
            assert mine.basis.bits == layer.basis.bits
            np.testing.assert_array_equal(np.asarray(mine.basis)[:, :].any(), np.asarray(layer.basis).any())
    assert back.about["method"] == skin.about["method"]


@pytest.mark.parametrize("seed", range(6))
def test_random_skins_come_back(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    skin = random_skin(rng)
    plain = ps.Skin(skin.rig, skin.layers)
    ps.export(plain, tmp_path / "some.glb", warn=lambda _: None)
    back = ps.Skin.load(tmp_path / "some.glb")
    pose = ps.Pose(rng.normal(size=(len(skin.rig.skeleton), 4)), controls={name: 0.3 for name in skin.control_names})
    np.testing.assert_allclose(back.displacements(pose), plain.displacements(pose), atol=2e-6 * skin.rig.mesh.diagonal)


def test_no_list_of_the_block_holds_another(tmp_path: Path) -> None:
    skin = random_skin(np.random.default_rng(1))
    axes, limits = (
        np.tile(np.eye(3), (len(skin.rig.skeleton), 1, 1)),
        np.tile([-1.0, 1.0], (len(skin.rig.skeleton), 3, 1)),
    )
    skeleton = replace(skin.rig.skeleton, axes=axes, limits=limits)
    ps.export(ps.Skin(replace(skin.rig, skeleton=skeleton), skin.layers), tmp_path / "a.glb", warn=lambda _: None)
    block = parsed(tmp_path / "a.glb")[0]["extensions"]["POSESPACE_drivers"]
    objects = [*block["joints"], *block["drivers"], *block["layers"]]
    assert {len(joint["axes"]) for joint in block["joints"]} == {9}
    assert {len(joint["limits"]) for joint in block["joints"]} == {6}
    lists = [entry for each in objects for entry in each.values() if isinstance(entry, list)]
    assert not any(isinstance(inner, list) for entry in lists for inner in entry)
    back = ps.Skin.load(tmp_path / "a.glb").rig.skeleton
    np.testing.assert_allclose(back.axes, axes)
    np.testing.assert_allclose(back.limits, limits, atol=1e-6)


def test_a_file_without_drivers_is_no_skin(arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    ps.export(ps.PSD().fit(arm[0]), tmp_path / "arm.gltf")
    content = json.loads((tmp_path / "arm.gltf").read_text())
    del content["extensions"]
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    assert "holds a rig but no skin" in error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 3),
        (("version",), 2),
        (("numbers",), 10_000),
        (("unit",), -1),
        (("drivers", 0, "centres"), [0, 10**12]),
        (("drivers", 0, "kernel"), "boom"),
        (("drivers", 0, "inputs"), [99, 0]),
        (("drivers", 0, "inputs"), [1, 0, 1]),
        (("drivers", 0, "inputs"), [0.5]),
        (("drivers", 0, "inputs"), [[1, 0]]),
        (("drivers", 0, "inputs"), [-1, 99]),
        (("drivers", 0, "kind"), "points"),
        (("drivers", 0, "centres"), [1]),
        (("drivers", 0, "weights"), [1]),
        (("drivers", 0, "weights"), [1, 1, 1]),
        (("layers", 0, "bits"), 12),
        (("about",), {"settings": json.loads("[" * 80 + "]" * 80)}),
        (("layers", 0, "driver"), 77),
        (("joints",), []),
        (("layers",), "none"),
    ],
)
def test_damaged_drivers_are_refused_in_one_line(
    place: tuple[Any, ...], value: object, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    ps.export(ps.PSD().fit(arm[0]), tmp_path / "arm.gltf")
    content = json.loads((tmp_path / "arm.gltf").read_text())
    inner = content["extensions"]["POSESPACE_drivers"]
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    (tmp_path / "arm.gltf").write_text(json.dumps(content))
    assert str(tmp_path / "arm.gltf") in error_of(lambda: ps.Skin.load(tmp_path / "arm.gltf"))


@pytest.mark.parametrize("name", ["PSD", "EigenSkin 16", "Muscles"])
def test_a_script_that_knows_only_the_page_gives_the_same_coordinates(
    name: str, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    train, unseen = arm
    skin = FITS[name]().fit(train)
    _assert_the_page_gives_the_same(skin, unseen.motion, tmp_path / "arm.glb")


def test_a_script_that_knows_only_the_page_keeps_to_span_and_bound(
    arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    skin = growing_skin(cut_arm(arm[0].rig))
    motion = far_motion(skin.rig)
    assert (factors(skin, motion).min(axis=0) < 0.5).all()
    _assert_the_page_gives_the_same(skin, motion, tmp_path / "arm.glb")


def _assert_the_page_gives_the_same(skin: ps.Skin, motion: ps.Motion, path: Path) -> None:
    ps.export(skin, path)
    for pose in motion:
        shifts = pose.translations * skin.rig.mesh.unit
        found = coordinates_at(path, pose.rotations, shifts, dict(pose.controls))
        for mine, driver in zip(found, skin.drivers, strict=True):
            wanted = skin.coordinates(driver, pose)
            np.testing.assert_allclose(mine, wanted, atol=1e-5 * max(1.0, float(np.abs(wanted).max())))
