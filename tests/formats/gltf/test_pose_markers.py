"""Poses that a file's clips name: by markers in their extras, or by being one key long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posespace as ps
from posespace.errors import InputError
from posespace.gathering.gather import gather
from posespace.gathering.posed_meshes import write_posed_meshes

NAMES = ("low", "high", "out")


@pytest.fixture
def arm(tmp_path: Path) -> ps.Examples:
    """A clip of three named poses, 51 frames long."""
    train, _ = ps.datasets.bending_arm(rings=10, sides=8)
    motion = ps.Motion.from_poses([train.motion[k] for k in (0, 5, 9)], NAMES, [0.0, 1.0, 50 / 30])
    ps.export(ps.Skin(train.rig), tmp_path / "arm.gltf", motion)
    return ps.Examples.from_shapes(train.rig, motion, [train.rig.skin(pose) for pose in motion])


def with_extras(path: Path, *extras: Any) -> None:
    """Repeat the first animation of a file, once with each extras; {} has none."""
    content = json.loads(path.read_text())
    first = content["animations"][0]
    content["animations"] = [{**first, "name": f"clip {k}", "extras": each} for k, each in enumerate(extras)]
    path.write_text(json.dumps(content))


def test_named_poses_come_back_as_they_were_exported(arm: ps.Examples, tmp_path: Path) -> None:
    file = tmp_path / "arm.gltf"
    motion = ps.load_motion(file, arm.rig.skeleton)
    assert len(motion) == 51
    assert [motion.names[k] for k in (0, 1, 30, 50)] == ["low", "1", "high", "out"]
    named = ps.load_motion(file, arm.rig.skeleton, rate="markers")
    assert named.names == NAMES
    np.testing.assert_allclose(named.times, [0, 1, 50 / 30], atol=1e-6)
    np.testing.assert_allclose(np.abs((named.rotations * arm.motion.rotations).sum(axis=2)), 1, atol=1e-6)
    assert [marker.name for marker in ps.clips(file)["motion"].markers] == list(NAMES)


def test_meshes_to_sculpt_are_those_of_the_named_poses(arm: ps.Examples, tmp_path: Path) -> None:
    notes: list[str] = []
    write_posed_meshes(tmp_path / "arm.gltf", tmp_path / "arm.gltf", tmp_path / "out", note=notes.append)
    assert sorted(path.name for path in (tmp_path / "out").glob("*.obj")) == ["high.obj", "low.obj", "out.obj"]
    assert any("the 3 poses that its clips name are taken" in note for note in notes)
    gather(tmp_path / "arm.gltf", str(tmp_path / "out" / "*.obj"), tmp_path / "a", tmp_path / "arm.gltf")
    assert ps.Examples.open(tmp_path / "a").motion.names[:3] == arm.motion.names


@pytest.mark.parametrize("markers", [{"b": 1.0, "a": 0.5}, [{"name": "b", "time": 1}, {"name": "a", "time": 0.5}]])
def test_markers_of_other_programs_name_poses_of_all_clips(arm: ps.Examples, tmp_path: Path, markers: Any) -> None:
    file = tmp_path / "arm.gltf"
    with_extras(file, {"markers": markers}, {}, {"markers": {"a": 0.0}})
    assert ps.load_motion(file, arm.rig.skeleton, rate="markers").names == ("a", "b", "a#2")
    assert ps.load_motion(file, arm.rig.skeleton, "clip 0", rate="markers").names == ("a", "b")
    with pytest.raises(InputError, match=r"'clip 1': has no pose markers; take its 51 keys with `rate='keys'`"):
        ps.load_motion(file, arm.rig.skeleton, "clip 1", rate="markers")


@pytest.mark.parametrize(
    "extras",
    [{"markers": 3}, {"markers": {"a": "b"}}, {"markers": [{"name": "a"}]}, {"poseNames": ["a"], "poseTimes": []}, [1]],
)
def test_extras_of_any_kind_are_no_reason_to_refuse_a_file(arm: ps.Examples, tmp_path: Path, extras: Any) -> None:
    with_extras(tmp_path / "arm.gltf", extras)
    assert len(ps.load_motion(tmp_path / "arm.gltf", arm.rig.skeleton)) == 51
    with pytest.raises(InputError, match="names no poses"):
        ps.load_motion(tmp_path / "arm.gltf", arm.rig.skeleton, rate="markers")


def test_a_clip_of_one_key_is_a_pose_of_its_name(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=10, sides=8)
    ps.export(ps.Skin(train.rig), tmp_path / "arm.gltf", ps.Motion.from_poses([train.motion[3]]))
    with_extras(tmp_path / "arm.gltf", {}, {})
    assert ps.load_motion(tmp_path / "arm.gltf", train.rig.skeleton).names == ("clip 0",)
    write_posed_meshes(tmp_path / "arm.gltf", tmp_path / "arm.gltf", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.obj")) == ["clip 0.obj", "clip 1.obj"]
