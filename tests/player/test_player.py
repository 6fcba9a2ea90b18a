"""The player in a real browser: what its vertex shader gives is read back and compared with the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.played import FITS, assert_same, exported, poses_of, rows, twenty
from scipy.spatial.transform import Rotation

import posespace as ps
from posespace.poses.parts import parts_of

SCRIPT = Path(__file__).parents[2] / "player" / "tests" / "capture.ts"
QUICK = ("PSD", "EigenSkin 8")
"""Fits that are tested by default; the others are thorough tests."""


@pytest.fixture(scope="module")
def page(bundled: Callable[..., str], opened: Callable[..., Any]) -> Any:
    return opened(bundled(SCRIPT))


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in FITS if name not in QUICK)],
)
def test_the_shader_gives_what_the_skin_gives(
    name: str, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    train, unseen = arm
    skin, motion = FITS[name]().fit(train), twenty(unseen.motion)
    given = [exported(skin, tmp_path), poses_of(motion, skin.rig.mesh.unit)]
    made = page.evaluate("([file, poses]) => capture(file, poses)", given)
    assert made["errors"] == []
    assert_same(skin, motion, made["captures"])


@pytest.mark.parametrize("compression", ["quantized", "meshopt"])
@pytest.mark.parametrize("name", ["PSD", "EigenSkin 16", "EigenSkin 8"])
def test_compressed_files_play_the_same(
    name: str, compression: str, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    skin, motion = FITS[name]().fit(arm[0]), arm[1].motion[:4]
    given = [exported(skin, tmp_path, compression=compression), poses_of(motion, skin.rig.mesh.unit)]
    made = page.evaluate("([file, poses]) => capture(file, poses)", given)
    assert made["errors"] == []
    assert_same(skin, motion, made["captures"], degrees=2.0)


def test_joints_linked_elsewhere_are_seen_from_there(
    page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    train, _ = arm
    parents = train.rig.skeleton.parents
    links = np.array([-1, *np.maximum(parents[1:] - 1, 0)], np.int32)
    assert (links[1:] != parents[1:]).any()
    linked = replace(train.rig, skeleton=replace(train.rig.skeleton, links=links))
    skin = ps.EigenSkin(normals="shared").fit(replace(train, rig=linked))
    driving = {joint for driver in skin.drivers for joint in driver.space.joints(skin.rig.skeleton)}
    assert driving & set(parts_of(skin.rig.skeleton).rerouted.tolist())
    # All joints turn: what a joint is seen from must matter.
    turns = Rotation.random(5 * len(parents), rng=np.random.default_rng(0)).as_quat().reshape(5, -1, 4)
    motion = ps.Motion.from_poses([ps.Pose(turn) for turn in turns])
    given = [exported(skin, tmp_path), poses_of(motion, skin.rig.mesh.unit)]
    made = page.evaluate("([file, poses]) => capture(file, poses)", given)
    assert made["errors"] == []
    assert_same(skin, motion, made["captures"])


@pytest.mark.parametrize("shared", [True, False], ids=["one driver", "many coordinates"])
def test_many_layers_add_up(shared: bool, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    fitted, motion = ps.EigenSkin(normals="shared").fit(arm[0]).edited(exaggerate=1 / 60), arm[1].motion[:2]
    layers = tuple(
        replace(layer, name=f"{layer.name} {k}", driver=layer.driver if shared else replace(layer.driver))
        for k in range(60)
        for layer in fitted.layers
    )
    skin = ps.Skin(fitted.rig, layers)
    assert sum(layer.driver.components for layer in layers) > 256
    given = [exported(skin, tmp_path), poses_of(motion, skin.rig.mesh.unit)]
    made = page.evaluate("([file, poses]) => capture(file, poses)", given)
    assert made["errors"] == []
    assert_same(skin, motion, made["captures"])


def test_a_face_without_joints_is_driven_by_controls(page: Any, tmp_path: Path) -> None:
    rig = ps.Rig.from_mesh(ps.datasets.bending_arm(rings=8, sides=6)[0].rig.mesh)
    still = rig.rest
    smile = ps.Pose(still.rotations, still.translations, {"smile": 1.0})
    moved = rig.mesh.points + np.where(rig.mesh.points[:, :1] > 0, 0.1, 0.0) * [0.0, 1.0, 0.0]
    skin = ps.PSD().fit(
        ps.Examples.from_shapes(rig, ps.Motion.from_poses([still, smile]), np.stack([rig.mesh.points, moved]))
    )
    half = ps.Pose(still.rotations, still.translations, {"smile": 0.5})
    made = page.evaluate(
        "([file, poses]) => capture(file, poses)",
        [exported(skin, tmp_path), poses_of(ps.Motion.from_poses([half]), rig.mesh.unit)],
    )
    points = rows(made["captures"][0]["points"]) / rig.mesh.unit
    assert np.abs(points - skin.pose(half)[0]).max() < 1e-4 * rig.mesh.diagonal
    assert np.abs(points - rig.mesh.points).max() > 0.01


def test_ten_hands_come_and_go_without_a_trace(page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    file = exported(ps.EigenSkin(normals="shared").fit(arm[0]), tmp_path)
    counts = page.evaluate("([file]) => comeAndGo(file, 10, 50)", [file])
    assert counts[-1] == counts[1]
