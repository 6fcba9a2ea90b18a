"""The player in a real browser: what its vertex shader gives is read back and compared with the reference."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Runner

import posespace as ps

PLAYER = Path(__file__).parents[2] / "player"

FITS: dict[str, Callable[[], Any]] = {
    "PSD": lambda: ps.PSD(normals="shared"),
    "EigenSkin 32": lambda: ps.EigenSkin(normals="shared", bits=32),
    "EigenSkin 16": lambda: ps.EigenSkin(normals="shared"),
    "EigenSkin 8": lambda: ps.EigenSkin(normals="shared", bits=8),
    "Muscles": lambda: ps.Muscles(signals=3),
}


@pytest.fixture(scope="module")
def script(node: Runner, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The test's own script with the player and three.js, as one text."""
    out = tmp_path_factory.mktemp("player") / "capture.js"
    bundler = shutil.which("esbuild", path=str(PLAYER / "node_modules" / ".bin"))
    words = [str(bundler), str(PLAYER / "tests" / "capture.ts"), "--bundle", "--format=iife", f"--outfile={out}"]
    subprocess.run(words, check=True, capture_output=True)
    return out.read_text()


@pytest.fixture(scope="module")
def page(script: str, chromium: Any) -> Any:
    opened = chromium.new_page()
    opened.add_script_tag(content=script)
    return opened


@pytest.fixture(scope="module")
def arm() -> tuple[ps.Examples, ps.Examples]:
    return ps.datasets.bending_arm(rings=14, sides=9)


def exported(skin: ps.Skin, folder: Path) -> str:
    ps.export(skin, folder / "skin.glb")
    return base64.b64encode((folder / "skin.glb").read_bytes()).decode()


def poses_of(motion: ps.Motion, unit: float) -> list[dict[str, Any]]:
    return [
        {
            "joints": [*pose.rotations.ravel().tolist(), *(unit * pose.translations).ravel().tolist()],
            "controls": dict(pose.controls),
        }
        for pose in motion
    ]


@pytest.mark.parametrize("name", FITS)
def test_the_shader_gives_what_the_skin_gives(
    name: str, page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    train, unseen = arm
    skin = FITS[name]().fit(train)
    motion = unseen.motion[np.resize(np.arange(len(unseen)), 20)]
    unit = skin.rig.mesh.unit
    made = page.evaluate("([file, poses]) => capture(file, poses)", [exported(skin, tmp_path), poses_of(motion, unit)])
    assert made["errors"] == []
    for pose, found in zip(motion, made["found"], strict=True):
        wanted, directions = skin.pose(pose)
        points = np.reshape(found["points"], (-1, 3)) / unit
        assert np.abs(points - wanted).max() < 1e-4 * train.rig.mesh.diagonal
        picked = np.reshape(found["picked"], (-1, 3)) / unit
        some = [0, len(wanted) // 2, len(wanted) - 1]
        assert np.abs(picked - wanted[some]).max() < 1e-4 * train.rig.mesh.diagonal
        if name != "Muscles":  # whose normals follow from the posed surface, which a vertex shader does not know
            normals = np.reshape(found["normals"], (-1, 3))
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
            assert np.degrees(np.arccos(np.clip((normals * directions).sum(axis=1), -1, 1))).max() < 1.0


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
    points = np.reshape(made["found"][0]["points"], (-1, 3)) / rig.mesh.unit
    assert np.abs(points - skin.pose(half)[0]).max() < 1e-4 * rig.mesh.diagonal
    assert np.abs(points - rig.mesh.points).max() > 0.01


def test_ten_hands_come_and_go_without_a_trace(page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path) -> None:
    file = exported(ps.EigenSkin(normals="shared").fit(arm[0]), tmp_path)
    counts = page.evaluate("([file]) => comeAndGo(file, 10, 50)", [file])
    assert counts[-1] == counts[1]


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.update(numbers=10**6),
        lambda file: file["drivers"][0].update(centres=[0, 10**9]),
        lambda file: file["drivers"][0].update(inputs=[50, 50]),
        lambda file: file.update(joints=[]),
        lambda file: file.update(version=7),
    ],
)
def test_a_damaged_block_gives_one_error_and_plain_morph_targets(
    damage: Callable[[dict[str, Any]], None], page: Any, arm: tuple[ps.Examples, ps.Examples], tmp_path: Path
) -> None:
    ps.export(ps.PSD().fit(arm[0]), tmp_path / "arm.gltf")
    content = json.loads((tmp_path / "arm.gltf").read_text())
    damage(content["extensions"]["POSESPACE_drivers"])
    file = base64.b64encode(json.dumps(content).encode()).decode()
    errors, skins, morphs = page.evaluate(
        """async ([file]) => {
            const { scene, skins, errors } = await load(file);
            let morphs = 0;
            scene.traverse((object) => { morphs += object.geometry?.morphAttributes.position?.length ?? 0; });
            return [errors, skins.length, morphs];
        }""",
        [file],
    )
    assert len(errors) == 1
    assert "plays as plain morph targets" in errors[0]
    assert (skins, morphs > 0) == (0, True)
