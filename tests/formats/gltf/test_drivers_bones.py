"""Version 2 of `POSESPACE_drivers`, evaluated by a script that follows docs/drivers.md alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.bones_page import PagePlayer
from helpers.point_skins import SETTINGS, point_motion, point_skin
from helpers.strategies import random_points_skin

import posespace as ps


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_script_that_knows_only_the_page_gives_the_same_points(kind: str, tmp_path: Path) -> None:
    skin = point_skin(kind)
    assert_the_page_gives_the_same(skin, point_motion(skin, far=True), tmp_path / "arm.glb")


@pytest.mark.parametrize("bits", [16, 8])
def test_the_page_tells_how_numbers_are_packed_and_axes_turned(bits: int, tmp_path: Path) -> None:
    skin = point_skin("corrections and detail").packed(bits)
    assert_the_page_gives_the_same(skin, point_motion(skin, 2), tmp_path / "arm.glb", up="z", unit="cm")


@pytest.mark.parametrize("seed", range(8))
def test_any_skin_of_control_points_plays_by_the_page(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    skin = random_points_skin(rng)
    translations = 0.3 * rng.normal(size=(2, len(skin.rig.skeleton), 3))
    turns = np.tile(skin.rig.rest.rotations, (2, 1, 1))
    turns[1, 0] = (0.6, 0.0, 0.0, 0.8)
    up = "yz"[seed % 2]
    assert_the_page_gives_the_same(skin, ps.Motion(turns, translations), tmp_path / "any.glb", 1e-5, up=up)


def assert_the_page_gives_the_same(
    skin: ps.Skin, motion: ps.Motion, path: Path, tolerance: float = 1e-6, up: str = "y", unit: str = "m"
) -> None:
    ps.export(skin, path, warn=lambda _: None, up=up, unit=unit)
    player, metres = PagePlayer(path), ps.mesh.UNITS[unit]
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]) if up == "z" else np.eye(3)
    for pose in motion:
        points, normals = player.pose(pose.rotations, metres * pose.translations, dict(pose.controls))
        wanted, directions = skin.pose(pose)
        size = max(skin.rig.mesh.diagonal, float(np.abs(wanted).max()))
        np.testing.assert_allclose(points @ turn / metres, wanted, atol=tolerance * size)
        np.testing.assert_allclose(normals @ turn, directions, atol=1e3 * tolerance)
