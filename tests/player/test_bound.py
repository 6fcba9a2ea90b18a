"""Far outside its samples the player holds corrections back as the reference does, and moves poses onto their span."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.growing import cut_arm, factors, far_motion, growing_skin
from helpers.played import FITS, assert_same, exported, poses_of, rows
from helpers.strategies import random_pose, random_skin

import posespace as ps

SCRIPT = Path(__file__).parents[2] / "player" / "tests" / "capture.ts"


@pytest.fixture(scope="module")
def page(bundled: Callable[..., str], opened: Callable[..., Any]) -> Any:
    return opened(bundled(SCRIPT))


def played(page: Any, skin: ps.Skin, motion: ps.Motion, folder: Path, **settings: Any) -> list[dict[str, Any]]:
    given = [exported(skin, folder, **settings), poses_of(motion, skin.rig.mesh.unit)]
    made = page.evaluate("([file, poses]) => capture(file, poses)", given)
    assert made["errors"] == []
    return list(made["captures"])


def assert_same_coordinates(skin: ps.Skin, motion: ps.Motion, found: list[dict[str, Any]], near: float = 1e-4) -> None:
    """Coordinates are those of the reference, of each driver to a fraction of its largest one."""
    for driver, start in zip(skin.drivers, starts_of(skin), strict=True):
        wanted = skin.coordinates(driver, motion)
        got = np.array([read["coordinates"] for read in found])[:, start : start + driver.components]
        np.testing.assert_allclose(got, wanted, atol=near * np.abs(wanted).max())


def starts_of(skin: ps.Skin) -> list[int]:
    return [sum(each.components for each in skin.drivers[:k]) for k in range(len(skin.drivers))]


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_what_grows_beyond_the_samples_is_held_back(
    bits: int, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    skin, motion = growing_skin(arm[0].rig, bits), far_motion(arm[0].rig)
    # Each driver is held back at some poses, but not at those between its samples.
    assert (factors(skin, motion).min(axis=0) < 0.5).all()
    assert (factors(skin, motion)[0] == 1).all()
    found = played(page, skin, motion, tmp_path)
    assert_same_coordinates(skin, motion, found, near=1e-4 if bits > 8 else 1e-3)
    assert_same(skin, motion, found)


@pytest.mark.parametrize("compression", ["none", "quantized", "meshopt"])
def test_neighbourhoods_go_across_meshes_and_materials(
    compression: str, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    skin, motion = growing_skin(cut_arm(arm[0].rig)), far_motion(arm[0].rig)
    found = played(page, skin, motion, tmp_path, compression=compression)
    # What is stored as whole numbers is compared with what a file of them holds.
    stored = ps.Skin.load(tmp_path / "skin.glb")
    assert (factors(stored, motion).min(axis=0) < 0.5).all()
    assert_same_coordinates(stored, motion, found)
    count = len(skin.rig.mesh.points)
    for pose, read in zip(motion, found, strict=True):
        points = rows(read["points"])
        assert len(points) > count
        near = 1e-4 if compression == "none" else 1e-3
        assert np.abs(points[:count] / skin.rig.mesh.unit - skin.pose(pose)[0]).max() < near * skin.rig.mesh.diagonal


@pytest.mark.parametrize("seed", range(1, 5))
def test_every_kind_of_driver_plays_as_the_reference_at_any_pose(seed: int, page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    made = random_skin(rng)
    skin = ps.Skin(made.rig, made.layers)
    poses = [random_pose(rng, skin.rig) for _ in range(6)]
    far = [ps.Pose(pose.rotations, 30 * pose.translations, {"smile": 5.0}) for pose in poses]
    motion = ps.Motion.from_poses([*poses, *far])
    assert sum(getattr(driver.interpolant, "span", None) is not None for driver in skin.drivers) >= 2
    assert factors(skin, motion).min() < 0.95
    found = played(page, skin, motion, tmp_path, warn=lambda _: None)
    assert_same_coordinates(skin, motion, found)


@pytest.mark.parametrize("name", ["PSD", "EigenSkin 16", "Muscles"])
def test_fitted_skins_far_outside_play_as_the_reference(
    name: str, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    skin = FITS[name]().fit(arm[0])
    rng = np.random.default_rng(0)
    motion = ps.Motion.from_poses([random_pose(rng, skin.rig) for _ in range(10)])
    found = played(page, skin, motion, tmp_path)
    assert_same_coordinates(skin, motion, found)


def test_a_pose_that_is_no_pose_moves_nothing(page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    skin = growing_skin(arm[0].rig)
    poses = poses_of(far_motion(arm[0].rig)[:1], skin.rig.mesh.unit)
    poses[0]["joints"][4:8] = [1e200, 0.0, 0.0, 1e200]
    made = page.evaluate("([file, poses]) => capture(file, poses)", [exported(skin, tmp_path), poses])
    assert np.isfinite(made["captures"][0]["coordinates"]).all()
