"""From a rig to a skin without a writer of one's own: posed meshes, sculpted in a script, gathered, fitted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import assert_one_line, run

import posespace as ps


def sculpt(folder: Path, rig: Path, amount: float) -> dict[str, np.ndarray]:
    """Push each mesh of a folder outwards, as a script in a sculpting program would; returns the shapes by pose."""
    listed, shapes = json.loads((folder / "poses.json").read_text())["meshes"], {}
    loaded = ps.load_rig(rig)
    motion = ps.load_motion(folder / "poses.json", loaded.skeleton)
    for pose, file in listed.items():
        mesh = ps.load_mesh(folder / file)
        swell = amount * mesh.diagonal * np.sin(7 * mesh.points[:, :1] / mesh.diagonal)
        ps.save_mesh(mesh, folder / file, mesh.points + swell * mesh.normals())
        shapes[pose] = ps.load_shape(folder / file, loaded, motion[pose])
    return shapes


def succeeds(folder: Path, *words: str) -> dict[str, object]:
    done = run(*words, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def assert_reproduced(folder: Path, shapes: dict[str, np.ndarray]) -> None:
    skin, examples = ps.Skin.load(folder / "new.skin"), ps.Examples.open(folder / "new.examples")
    for name, shape in shapes.items():
        points, _ = skin.pose(examples.motion[name])
        plain = skin.rig.skin(examples.motion[name])
        assert np.abs(plain - shape).max() > 0.004 * skin.mesh.diagonal
        assert np.abs(points - shape).max() < 1e-3 * skin.mesh.diagonal


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    ps.export(ps.Skin(train.rig), folder / "arm.glb")
    names = train.rig.skeleton.names
    poses = {
        "bent": {"rotations": {names[1]: {"bend": 60, "axis": [0, 0, 1]}}},
        "bent/far": {"rotations": {names[1]: {"z": 90}}},
        "other: nose": {"rotations": {"nose": {"x": 5}}},
    }
    (folder / "poses.json").write_text(json.dumps({"posespace": "poses", "version": 1, "poses": poses}))
    return folder


def test_a_built_in_rig_is_posed_sculpted_gathered_and_fitted(arm: Path) -> None:
    words = ("pose", "arm.glb", "--poses", "poses.json", "--only", "bent*", "-o", "sculpts")
    figures = succeeds(arm, *words)
    assert figures["pose_names"] == ["bent", "bent/far"]
    assert figures["meshes"] == ["bent.obj", "bent_far.obj"]
    assert_one_line(run(*words, folder=arm), "sculpts", "exists already and is not empty")
    shapes = sculpt(arm / "sculpts", arm / "arm.glb", 0.01)
    assert succeeds(arm, "examples", "arm.glb", "--shapes", "sculpts", "-o", "new.examples")["poses"] == 3
    succeeds(arm, "fit", "psd", "new.examples", "-o", "new.skin")
    assert_reproduced(arm, shapes)
    succeeds(arm, "pose", "new.skin", "--poses", "sculpts/poses.json", "-o", "again", "--format", "ply")
    again = ps.load_mesh(arm / "again" / "bent_far.ply").points
    assert np.abs(again - shapes["bent/far"]).max() < 1e-3 * ps.load_rig(arm / "arm.glb").mesh.diagonal


def test_a_real_hand_is_posed_sculpted_gathered_and_fitted(data: Path, tmp_path: Path) -> None:
    hand = data / "hand-godot-xr"
    rig, poses = str(hand / "hand_l.gltf"), str(hand / "poses_left.json")
    succeeds(tmp_path, "pose", rig, "--poses", poses, "--only", "Grip*", "--only", "Pinch*", "-o", "sculpts")
    shapes = sculpt(tmp_path / "sculpts", Path(rig), 0.01)
    assert len(shapes) > 6
    succeeds(tmp_path, "examples", rig, "--shapes", "sculpts/*.obj", "-o", "new.examples")
    succeeds(tmp_path, "fit", "psd", "new.examples", "-o", "new.skin")
    assert_reproduced(tmp_path, shapes)


def test_joints_that_the_rig_lacks_are_named_or_skipped_with_a_count(arm: Path) -> None:
    words = ("pose", "arm.glb", "--poses", "poses.json", "-o", "some")
    assert_one_line(
        run(*words, folder=arm), "poses.json", "'other: nose'", "'nose' is not in the skeleton", "--partial"
    )
    done = run(*words, "--partial", folder=arm)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "1 of 3 poses skipped: they name joints that the skeleton lacks, such as 'nose'" in done.stderr
    rig = ps.load_rig(arm / "arm.glb")
    ps.save_mesh(rig.mesh, arm / "some" / "other_ nose.obj")
    words = ("examples", "arm.glb", "--poses", "poses.json", "--shapes", "some/*.obj", "-o")
    assert_one_line(run(*words, "x.examples", folder=arm), "'nose' is not in the skeleton", "--partial")
    assert succeeds(arm, *words, "partial.examples", "--partial")["poses"] == 3
    assert succeeds(arm, *words, "only.examples", "--only", "*far")["poses"] == 2
    assert ps.Examples.open(arm / "only.examples").motion.names == ("bent/far", "rest")


def test_export_and_retarget_choose_poses_of_their_motion(arm: Path) -> None:
    ps.Skin(ps.load_rig(arm / "arm.glb")).save(arm / "plain.skin")
    words = ("export", "plain.skin", "-o", "clip.glb")
    assert_one_line(run(*words, "--only", "bent", folder=arm), "--only: needs --motion FILE")
    succeeds(arm, *words, "--motion", "poses.json", "--only", "bent*")
    assert len(ps.load_motion(arm / "clip.glb")) == 2
    words = ("retarget", "plain.skin", "plain.skin", "plain.skin", "-o", "x.skin", "--partial")
    assert_one_line(run(*words, folder=arm), "--partial: needs --motion FILE")


def test_wrong_words_get_one_line(arm: Path) -> None:
    base = ("pose", "arm.glb", "--poses", "poses.json", "-o")
    assert_one_line(
        run(*base, "x", "--only", "fist*", folder=arm),
        "poses.json",
        "only 'fist*': matches none of the 3 poses; they are",
    )
    assert_one_line(run(*base, "none/x", folder=arm), "none/x", "its folder does not exist")
    assert_one_line(run(*base, "arm.glb", folder=arm), "arm.glb", "exists already")
    assert_one_line(run("pose", "none.glb", "--poses", "poses.json", "-o", "x", folder=arm), "none.glb")
    assert not (arm / "x").exists()
