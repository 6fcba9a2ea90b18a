"""Skins in a real browser: lost contexts, shadows, copies; and the example of the player's README."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.played import exported, poses_of, rows
from scipy.spatial.transform import Rotation

import posespace as ps

PLAYER = Path(__file__).parents[2] / "player"
METRES = 1.5
"""Half of what the camera sees of the arm."""


@pytest.fixture(scope="module")
def skin(arm: tuple[ps.Examples, ps.Examples]) -> ps.Skin:
    return ps.EigenSkin(normals="shared").fit(arm[0])


@pytest.fixture(scope="module")
def page(bundled: Callable[..., str], opened: Callable[..., Any]) -> Any:
    return opened(bundled(PLAYER / "tests" / "life.ts"))


@pytest.fixture(scope="module")
def given(skin: ps.Skin, arm: tuple[ps.Examples, ps.Examples], tmp_path_factory: pytest.TempPathFactory) -> Any:
    file = exported(skin, tmp_path_factory.mktemp("life"))
    far = np.argsort([-np.abs(skin.displacements(pose)).max() for pose in arm[1].motion])
    motion = arm[1].motion[[int(far[0]), int(far[-1])]]
    return file, poses_of(motion, skin.rig.mesh.unit), motion


def test_a_lost_context_comes_back_with_the_skin(page: Any, given: Any) -> None:
    before, after, plain = page.evaluate("(all) => loseContext(...all)", [given[0], given[1][0], METRES])
    assert np.count_nonzero(before) > 200
    assert before == after
    assert np.count_nonzero(np.array(after) != plain) > 10


@pytest.mark.parametrize("light", ["directional", "point"])
def test_shadows_are_those_of_the_corrected_shape(light: str, page: Any, given: Any) -> None:
    made = page.evaluate("(all) => shadows(...all)", [given[0], given[1][0], METRES, light])
    own, wanted, plain = (np.array(each) for each in made)
    assert (wanted < 0.5 * wanted.max()).mean() > 0.01
    assert np.count_nonzero(np.abs(own - wanted) > 32) < 0.1 * np.count_nonzero(np.abs(plain - wanted) > 32)


def test_a_copy_moves_by_itself_and_outlives_the_first(page: Any, given: Any, skin: ps.Skin) -> None:
    file, poses, motion = given
    page.said.clear()
    *found, errors = page.evaluate("(all) => copies(...all)", [file, *poses])
    for vertices, pose in zip(found, [motion[0], motion[1], motion[1]], strict=True):
        points = rows(vertices) / skin.rig.mesh.unit
        assert np.abs(points - skin.pose(pose)[0]).max() < 1e-4 * skin.rig.mesh.diagonal
    assert errors == [0, 0]
    assert page.said == []


BEFORE = """
import { PerspectiveCamera, Scene, WebGLRenderer } from "three";
const [scene, renderer, camera] = [new Scene(), new WebGLRenderer(), new PerspectiveCamera()];
"""
AFTER = """
const { count } = skin.meshes[0].geometry.getAttribute("position");
const place = skin.meshes[0].position.clone();
window.vertices = Array.from({ length: count }, (_, k) => skin.meshes[0].getVertexPosition(k, place).toArray()).flat();
"""


def test_the_example_of_the_readme_shows_a_bent_finger(
    bundled: Callable[..., str], opened: Callable[..., Any], tmp_path: Path
) -> None:
    (example,) = re.findall(r"```js\n(.*?)```", (PLAYER / "README.md").read_text(), re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    train = ps.datasets.hand()[0].named("rest*", "index_pip*")
    skin = ps.EigenSkin(components=2, normals="shared").fit(train)
    ps.export(skin, tmp_path / "hand.glb")
    script = bundled(BEFORE + example + AFTER, "--format=esm", "--alias:posespace=./three/index.ts")
    page = opened(script, {"hand.glb": (tmp_path / "hand.glb").read_bytes()}, kind="module")
    page.wait_for_function("window.vertices")
    joint, turns = skin.rig.skeleton.index("index_pip"), skin.rig.rest.rotations.copy()
    turns[joint] = (Rotation.from_quat(turns[joint]) * Rotation.from_euler("x", -1)).as_quat()
    wanted = skin.pose(ps.Pose(turns))[0]
    points = rows(page.evaluate("window.vertices")) / skin.rig.mesh.unit
    assert np.abs(points - wanted).max() < 1e-4 * skin.rig.mesh.diagonal
    assert np.abs(wanted - ps.Skin(skin.rig).pose(ps.Pose(turns))[0]).max() > 1.0  # millimetres
    assert page.said == []
