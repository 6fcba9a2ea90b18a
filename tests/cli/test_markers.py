"""From a take of markers to a file that plays: `posespace export SKIN --motion take.tsv --markers map.json`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers import marker_files
from helpers.commands import assert_one_line, run

import posespace as ps
from posespace.skin.edit import with_beta

TRAIN = ps.datasets.bending_arm(rings=12, sides=8)[0][:30:3]
PICKED = (3, 20, 41, 60, 79, 91)


@pytest.fixture(scope="module")
def skin() -> ps.Skin:
    # A file has what the bones alone give.
    return ps.ControlPoints(picked=PICKED, bones=6, near_points=3, corrections=0).fit(TRAIN)


@pytest.fixture
def folder(skin: ps.Skin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A skin, a take of an arm that bends, in millimetres and somewhere else, and which marker moves which point."""
    skin.save(tmp_path / "arm.skin")
    TRAIN.save(tmp_path / "arm.examples")
    shapes = np.stack([np.asarray(TRAIN.shapes[k]) for k in range(len(TRAIN))])
    frames = np.clip(np.linspace(-1, len(TRAIN), 60), 0, len(TRAIN) - 1)
    low = frames.astype(int)
    high = np.minimum(low + 1, len(TRAIN) - 1)
    places = shapes[low] + (frames - low)[:, None, None] * (shapes[high] - shapes[low])
    seen = np.ones((60, len(PICKED)), dtype=bool)
    seen[20:24, 2] = seen[40:55, 4] = False
    names = tuple(f"m{k}" for k in range(len(PICKED)))
    take = ps.Markers(names, 1000 * places[:, PICKED] + 300, seen, rate=30.0)
    marker_files.tsv(tmp_path / "take.tsv", take)
    points = {name: f"point{k}" for k, name in enumerate(names, 1)}
    given = {"posespace": "markers", "version": 1, "points": points, "reference": 0}
    (tmp_path / "map.json").write_text(json.dumps(given))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_take_is_played_into_a_file(folder: Path, skin: ps.Skin) -> None:
    done = run("export", "arm.skin", "--motion", "take.tsv", "--markers", "map.json", "-o", "arm.glb")
    assert done.returncode == 0, done.stderr
    assert "lengths are multiplied by 0.001" in done.stderr
    played, motion = ps.Skin.load("arm.glb"), ps.load_motion("arm.glb", skin.rig.skeleton)
    assert len(motion) == 60
    wanted = ps.load_motion("take.tsv", skin.rig.skeleton, markers="map.json")
    weak = with_beta(skin, 0.3)
    for frame in (0, 22, 47, 59):
        np.testing.assert_allclose(played.pose(motion[frame])[0], weak.pose(wanted[frame])[0], atol=1e-5)
    steps = np.linalg.norm(np.diff([weak.pose(pose)[0] for pose in wanted], axis=0), axis=2)
    fastest = np.linalg.norm(np.diff(wanted.translations[:, 1:], axis=0), axis=2).max()
    assert steps.max() < 2 * fastest


def test_a_skeleton_leads_the_points(folder: Path, skin: ps.Skin) -> None:
    done = run(
        "export", "arm.skin", "--motion", "arm.examples", "--rig", "arm.examples", "--beta", "3", "-o", "led.glb"
    )
    assert done.returncode == 0, done.stderr
    assert len(ps.load_motion("led.glb", rate="keys")) >= len(TRAIN)


def test_what_is_missing_is_said_in_one_line(folder: Path) -> None:
    cases = {
        ("--markers", "map.json"): "--markers: needs --motion FILE",
        ("--motion", "take.tsv"): "take.tsv: markers: none of 'm0', 'm1', 'm2', 'm3', ... has the name of a control "
        "point ('root', 'point1', 'point2', 'point3', ...); map markers to control points in a file, "
        "given as --markers",
        ("--motion", "take.tsv", "--clip", "a"): "take.tsv: holds one take of markers and no clip 'a'",
        (
            "--motion",
            "arm.examples",
            "--markers",
            "map.json",
        ): "arm.examples: has no markers (marker files end in .c3d, .tsv or .trc); omit --markers",
        ("--rig", "arm.examples"): "--rig: needs --motion",
    }
    for words, said in cases.items():
        done = run("export", "arm.skin", "-o", "out.glb", *words)
        assert done.returncode == 2
        assert said in done.stderr
        assert not Path("out.glb").exists()


def test_a_rig_leads_control_points_alone(folder: Path) -> None:
    ps.Skin(TRAIN.rig).save("plain.skin")
    done = run("export", "plain.skin", "--motion", "arm.examples", "--rig", "arm.examples", "-o", "out.glb")
    assert_one_line(done, "--rig: the skin has no control points")
    done = run("export", "arm.skin", "--motion", "arm.examples", "-o", "out.glb")
    assert_one_line(done, "arm.examples: none of the motion's joints (", "give its rig by --rig")
    done = run("pose", "arm.skin", "--poses", "arm.examples", "-o", "posed")
    assert_one_line(done, "arm.examples: none of the motion's joints (")


def test_rotations_and_limits_of_control_points_are_warned_of(folder: Path) -> None:
    poses = {"posespace": "poses", "version": 1, "poses": {"a": {"rotations": {"point3": [0, 0, 1, 1]}}}}
    Path("turned.json").write_text(json.dumps(poses))
    said = "control points only translate; rotations of point3 are ignored\n"
    done = run("pose", "arm.skin", "--poses", "turned.json", "-o", "posed")
    assert (done.returncode, done.stderr) == (0, f"posespace: warning: turned.json: {said}")
    done = run("export", "arm.skin", "--motion", "turned.json", "-o", "out.glb")
    assert (done.returncode, done.stderr) == (0, f"posespace: warning: turned: {said}")
    done = run("limits", "arm.skin", "--set", "point1.x=0:140", "-o", "limited.skin")
    said = "arm.skin: control points only translate; limits of point1 are ignored"
    assert (done.returncode, done.stderr) == (0, f"posespace: warning: {said}\n")


def test_control_points_of_an_exported_file_are_linked_to_no_other_joint(folder: Path) -> None:
    run("export", "arm.skin", "-o", "out.glb")
    (told,) = json.loads(run("info", "out.glb", "--json").stdout)
    (rig,) = told["rigs"].values()
    assert rig["joint_names"][0] == "root"
    assert "linked_for_pose_spaces" not in rig


def test_the_joints_of_an_ordinary_skin_are_called_joints(folder: Path) -> None:
    ps.Skin(TRAIN.rig).save("plain.skin")
    done = run("export", "plain.skin", "-o", "out.glb", "--motion", "take.tsv")
    assert_one_line(done, "has the name of a joint (", "map markers to joints", "--markers")
    assert "control point" not in done.stderr
