"""Joint limits: from a file and by command, in glTF and skins, read back by everything that uses them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import assert_one_line, run
from helpers.gltf_files import HALF, animate, skinned

import posespace as ps
from posespace.formats.gltf.buffers import Document
from posespace.simulation.poses import poses_to_simulate
from posespace.simulation.settings import Settings

RANGES = {"joint 1": {"x": (-10.0, 80.0), "z": (0.0, 0.0)}}


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    """A rig of two joints with a clip."""
    made = skinned()
    animate(made, (1, "rotation", "LINEAR", [0.0, 1.0], made.add(np.array([[0, 0, 0, 1.0], [HALF, 0, 0, HALF]]))))
    for k, number in enumerate(made.json["skins"][0]["joints"]):
        made.json["nodes"][number] |= {"name": f"joint {k}", "extras": {"of others": [k]}}
    return made.write(tmp_path, glb=True)


def limits_file(folder: Path, ranges: object) -> Path:
    path = folder / "limits.json"
    path.write_text(json.dumps({"posespace": "limits", "version": 1, "limits": ranges}))
    return path


def test_limits_from_a_file_are_in_a_copy_that_is_else_the_same(rig: Path, tmp_path: Path) -> None:
    given = limits_file(tmp_path, RANGES)
    done = run("limits", rig, "--from", given, "-o", tmp_path / "b.glb", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["limits"] == {"joint 1": {"x": [-10, 80], "z": [0, 0]}}
    assert ps.load_rig(tmp_path / "b.glb").skeleton.ranges == RANGES
    before, after = Document(rig), Document(tmp_path / "b.glb")
    assert bytes(before.binary or b"") == bytes(after.binary or b"") != b""
    extras = [node.get("extras", {}).pop("posespace_limits", None) for node in after.root.values["nodes"]]  # type: ignore[attr-defined]
    assert sum(entry is not None for entry in extras) == 1
    assert after.root.values == before.root.values
    info = json.loads(run("info", "--json", tmp_path / "b.glb", given).stdout)
    (found,) = info[0]["rigs"].values()
    assert found["limits"] == info[1]["limits"] == {"joint 1": {"x": [-10, 80], "z": [0, 0]}}
    shown = run("info", tmp_path / "b.glb").stdout
    assert "limits: joint 1.x -10° to 80°, joint 1.z 0° to 0°\n" in shown


def test_limits_by_command_change_what_they_name_alone(rig: Path, tmp_path: Path) -> None:
    ps.save_limits(RANGES, rig, tmp_path / "b.glb")
    out = tmp_path / "c.glb"
    assert (
        run("limits", tmp_path / "b.glb", "--set", "joint 1.x=0:45", "--set", "joint 0.y=-5:5", "-o", out).stderr == ""
    )
    assert ps.load_limits(out) == {"joint 0": {"y": (-5, 5)}, "joint 1": {"x": (0, 45), "z": (0, 0)}}
    assert run("limits", out, "--clear", "-o", out).stderr == ""
    assert ps.load_limits(out) == {}
    assert Document(out).root.values["nodes"] == Document(rig).root.values["nodes"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "joint 1.x=90"], "--set 'joint 1.x=90': expected JOINT.AXIS=LOW:HIGH, e.g. forearm.z=0:140"),
        (["--set", "forearm=0:5"], "--set 'forearm=0:5': expected JOINT.AXIS=LOW:HIGH, e.g. forearm.z=0:140"),
        (["--set", "jiont 1.x=0:90"], "joint 'jiont 1': not in the skeleton; the closest is 'joint 1'"),
        (["--set", "joint 1.w=0:90"], "limits of joint 'joint 1': it has no axis 'w'; it has x, y, z"),
        (
            ["--set", "joint 1.x=10:90"],
            "x: expected LOW:HIGH with -180 <= LOW <= 0 <= HIGH <= 180 (degrees from rest), got 10:90",
        ),
        (["--set", "joint 1.x=nan:90"], "x: expected LOW:HIGH with -180 <= LOW"),
        (["--set", "joint 1.x=0:190"], "got 0:190"),
    ],
)
def test_wrong_limits_are_refused_in_one_line(rig: Path, tmp_path: Path, words: list[str], said: str) -> None:
    assert_one_line(run("limits", rig, *words, "-o", tmp_path / "b.glb"), said)
    assert not (tmp_path / "b.glb").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "expected an object"),
        ('{"elbow": {"x": [0, 1]}}', 'is not a file of joint limits; it begins with "posespace": "limits"'),
        ('{"posespace": "limits", "version": 2, "limits": {}}', "expected version 1, got 2"),
        ('{"posespace": "limits", "version": 1}', "limits is missing"),
        ('{"posespace": "limits", "version": 1, "limits": {"a": 3}}', "joint 'a': expected an object"),
        ('{"posespace": "limits", "version": 1, "limits": {"a": {"x": [1]}}}', "x: expected 2 numbers, got 1"),
        ('{"posespace": "limits", "version": 1, "limits": {"a": {"x": [NaN, 1]}}}', "finite numbers"),
        ('{"posespace": "limits", "version": 1, "limits": {"a": {"w": [0, 1]}}}', "expected axes x, y, z, got 'w'"),
    ],
)
def test_a_wrong_file_of_limits_is_refused_in_one_line(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "limits.json"
    path.write_text(content)
    with pytest.raises(ps.FileError, match=r"limits\.json: ") as caught:
        ps.load_limits(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("value", [3, {"x": 4}, {"x": [0, math.inf]}, {"x": [50, 60]}, {"up": [0, 1]}])
def test_wrong_limits_in_a_gltf_file_name_the_file(tmp_path: Path, value: object) -> None:
    made = skinned()
    made.json["nodes"][made.json["skins"][0]["joints"][1]]["extras"] = {"posespace_limits": value}
    path = made.write(tmp_path, glb=True)
    with pytest.raises(ps.FileError, match=path.name):
        ps.load_rig(path)


def test_extras_of_others_are_no_limits(tmp_path: Path) -> None:
    made = skinned()
    first, second = made.json["skins"][0]["joints"]
    made.json["nodes"][first]["extras"], made.json["nodes"][second]["extras"] = "a text", {"limits": "of others"}
    assert ps.load_rig(made.write(tmp_path, glb=True)).skeleton.limits is None


@pytest.mark.parametrize("settings", [{}, {"up": "z", "unit": "cm"}, {"compression": "quantized"}])
def test_an_exported_skin_keeps_axes_and_limits(tmp_path: Path, settings: dict[str, str]) -> None:
    examples, _ = ps.datasets.bending_arm(rings=8, sides=6)
    skin = ps.PSD().fit(examples)
    wanted = skin.rig.skeleton
    assert wanted.limits is not None
    ps.export(skin, tmp_path / "arm.glb", **settings)
    for found in (ps.Skin.load(tmp_path / "arm.glb").rig.skeleton, ps.load_rig(tmp_path / "arm.glb").skeleton):
        assert found.ranges == wanted.ranges
        assert found.limits is not None
        np.testing.assert_allclose(found.limits, wanted.limits, atol=1e-9)
        np.testing.assert_allclose(np.asarray(found.axes), np.asarray(wanted.axes), atol=1e-6)
    last = wanted.names[2]
    (axis,) = wanted.ranges[last]
    changed = {last: {axis: (-20.0, 30.0)}}
    ps.save_limits(changed, tmp_path / "arm.glb", tmp_path / "b.glb")
    assert ps.Skin.load(tmp_path / "b.glb").rig.skeleton.ranges == changed
    joints = Document(tmp_path / "b.glb").root.part("extensions").part("POSESPACE_drivers").parts("joints", "joint")
    number = 2 * "xyz".index(axis)
    assert joints[2].numbers("limits")[number : number + 2] == pytest.approx(np.radians([-20, 30]))


def test_a_skin_with_joints_of_no_limits_is_exported(tmp_path: Path, rig: Path) -> None:
    loaded = ps.load_rig(rig)
    limited = replace(loaded, skeleton=loaded.skeleton.with_ranges({"joint 1": {"x": (0.0, 90.0)}}))
    ps.Skin(limited).save(tmp_path / "a.skin")
    assert ps.load_limits(tmp_path / "a.skin") == {"joint 1": {"x": (0.0, 90.0)}}
    ps.export(ps.Skin.load(tmp_path / "a.skin"), tmp_path / "a.glb")
    assert ps.load_limits(tmp_path / "a.glb") == {"joint 1": {"x": (0.0, 90.0)}}
    first, second = Document(tmp_path / "a.glb").root.part("extensions").part("POSESPACE_drivers").parts("joints", "j")
    assert "limits" not in first
    assert second.numbers("limits") == pytest.approx([0, math.pi / 2, -math.pi, math.pi, -math.pi, math.pi])
    ps.save_limits({"joint 0": {"y": (-1.0, 1.0)}}, tmp_path / "a.skin", tmp_path / "b.skin")
    assert ps.load_limits(tmp_path / "b.skin") == {"joint 0": {"y": (-1.0, 1.0)}}


def test_simulated_poses_step_through_the_limits_that_were_set(rig: Path, tmp_path: Path) -> None:
    settings = Settings(random=3, step=40)
    with pytest.raises(ps.InputError, match="have no limits to step through; give them by `posespace limits`"):
        poses_to_simulate(ps.load_rig(rig), settings)
    ps.save_limits(RANGES, rig, tmp_path / "b.glb")
    poses = poses_to_simulate(ps.load_rig(tmp_path / "b.glb"), settings)
    assert poses.names == (
        "rest",
        "joint 1.x -10",
        "joint 1.x +40",
        "joint 1.x +80",
        "random 0",
        "random 1",
        "random 2",
    )
    assert not ps.load_rig(tmp_path / "b.glb").skeleton.beyond_limits(poses[6].rotations)


def test_a_copy_stays_beside_the_files_that_it_refers_to(tmp_path: Path) -> None:
    path = skinned().write(tmp_path, glb=False)
    content = json.loads(path.read_text())
    (tmp_path / "a.bin").write_bytes(bytes(Document(path)._buffer(0)))
    content["buffers"][0]["uri"] = "a.bin"
    path.write_text(json.dumps(content))
    (tmp_path / "other").mkdir()
    name = ps.load_rig(path).skeleton.names[1]
    with pytest.raises(ps.FileError, match=r"refers to 'a\.bin' beside it"):
        ps.save_limits({name: {"x": (0.0, 1.0)}}, path, tmp_path / "other" / path.name)
    ps.save_limits({name: {"x": (0.0, 1.0)}}, path, tmp_path / "beside.gltf")
    assert ps.load_limits(tmp_path / "beside.gltf") == {name: {"x": (0.0, 1.0)}}
    with pytest.raises(ps.FileError, match=r"expected a file that ends in \.gltf"):
        ps.save_limits({}, path, tmp_path / "b.glb")
