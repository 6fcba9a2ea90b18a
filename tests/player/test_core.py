"""The player's core in Node: random skins of every kernel, tail and kind of pose space give what the library gives."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import Runner
from helpers.played import poses_of
from helpers.strategies import random_drivers_skin, random_pose, random_skin

import posespace as ps
from posespace.interpolate.kernels import KERNELS
from posespace.poses.spaces import KINDS
from posespace.report.colours import heat

NEAR = 1e-6
"""How far coordinates and displacements may be from the library's, over the largest of their driver or pose."""
UNIT = 0.01
"""Metres per unit of the exported files."""
BITS = {"joint": 32, "quaternions": 16, "freedoms": 32, "controls": 8}


class Played(NamedTuple):
    """A skin, poses of it, and what the player's core gave at each."""

    skin: ps.Skin
    motion: ps.Motion
    results: list[dict[str, Any]]

    def differences(self, prefix: str = "") -> dict[str, float]:
        """How far the coordinates of each layer whose name begins so are from the library's, over their largest."""
        found, start = {}, 0
        names = {id(layer.driver): layer.name for layer in self.skin.layers}
        for driver in self.skin.drivers:
            wanted = self.skin.coordinates(driver, self.motion)
            got = np.array([result["coordinates"] for result in self.results])[:, start : start + driver.components]
            start += driver.components
            if names[id(driver)].startswith(prefix):
                found[names[id(driver)]] = float(np.abs(got - wanted).max() / np.abs(wanted).max())
        return found


@pytest.fixture(scope="module")
def played(node: Runner, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    """Skins by name, all of them played by one process."""
    folder = tmp_path_factory.mktemp("core")
    made = {kind: random_drivers_skin(np.random.default_rng(k), kind, BITS[kind]) for k, kind in enumerate(KINDS)}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        skin = random_skin(rng)
        made[f"mixed {seed}"] = skin, ps.Motion.from_poses([random_pose(rng, skin.rig) for _ in range(8)])
    jobs = []
    for name, (skin, motion) in made.items():
        ps.export(skin, folder / f"{name}.glb", unit="cm", warn=lambda _: None)
        jobs.append({"file": str(folder / f"{name}.glb"), "poses": poses_of(motion, UNIT)})
    (folder / "jobs.json").write_text(json.dumps(jobs))
    node("play_core.mjs", folder / "jobs.json", folder / "results.json")
    results = json.loads((folder / "results.json").read_text())
    return {name: Played(*skin, result) for (name, skin), result in zip(made.items(), results, strict=True)}


@pytest.mark.parametrize("kernel", [*KERNELS, "shepard"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kernel_over_every_pose_space_gives_the_same_coordinates(
    kind: str, kernel: str, played: dict[str, Played]
) -> None:
    differences = played[kind].differences(kernel)
    assert len(differences) == (4 if kernel == "shepard" else 12)
    assert {name: value for name, value in differences.items() if not value < NEAR} == {}


@pytest.mark.parametrize("kind", KINDS)
def test_some_poses_are_held_back_by_the_bound_and_others_are_not(kind: str, played: dict[str, Played]) -> None:
    skin, motion, _ = played[kind]
    free = [driver.coordinates(motion, skin.rig.skeleton) for driver in skin.drivers]
    kept = [skin.coordinates(driver, motion) for driver in skin.drivers]
    held = np.array([(np.abs(a - b).max(axis=1) > 1e-3) for a, b in zip(free, kept, strict=True)])
    assert min(held.sum(), (~held).sum()) > 20


@pytest.mark.parametrize("name", [*KINDS, *(f"mixed {seed}" for seed in range(4))])
def test_packed_targets_give_the_same_displacements(name: str, played: dict[str, Played]) -> None:
    skin, motion, results = played[name]
    for pose, result in zip(motion, results, strict=True):
        wanted = skin.displacements(pose)
        got = np.array(result["displacements"]) / UNIT
        assert np.abs(got - wanted).max() < 5 * NEAR * np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(4))
def test_fitted_skins_give_the_same_coordinates(seed: int, played: dict[str, Played]) -> None:
    assert max(played[f"mixed {seed}"].differences().values()) < NEAR


def test_errors_have_the_colours_of_the_library(node: Runner) -> None:
    np.testing.assert_allclose(json.loads(node("heat.mjs")), heat(np.arange(256), 255), atol=1e-12)
