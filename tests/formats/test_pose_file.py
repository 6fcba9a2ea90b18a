"""Poses by names of joints: bends and angles beside quaternions, poses chosen by name, joints that a rig lacks."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.strategies import random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import posespace as ps
from posespace.errors import FileError
from posespace.formats import pose_json
from posespace.geometry.rotations import angles_between
from posespace.skeleton import Skeleton

degrees = st.floats(-100, 100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("posefile")


def written(folder: Path, rotations: dict[str, Any]) -> Path:
    path = folder / "poses.json"
    path.write_text(json.dumps({"posespace": "poses", "version": 1, "poses": {"fist": {"rotations": rotations}}}))
    return path


def skeleton_of(seed: int) -> Skeleton:
    return random_rig(np.random.default_rng(seed)).skeleton


@settings(max_examples=25)
@given(seed=seeds, bend=st.floats(-400, 400), axis=st.tuples(*[st.floats(-1, 1)] * 3).filter(any))
def test_a_bend_turns_a_joint_from_rest_about_an_axis_of_its_own_frame(
    folder: Path, seed: int, bend: float, axis: tuple[float, float, float]
) -> None:
    skeleton = skeleton_of(seed)
    motion = ps.load_motion(written(folder, {"joint1": {"bend": bend, "axis": axis}}), skeleton)
    unit = np.array(axis) / np.abs(axis).max()
    unit /= np.linalg.norm(unit)
    own = Rotation.from_rotvec(np.radians(bend) * unit)
    expected = (Rotation.from_quat(skeleton.rest_rotations[1]) * own).as_quat()
    assert angles_between(motion.rotations[0, 1], expected) < 1e-6
    others = [0, 2, 3, 4]
    assert np.array_equal(motion.rotations[0, others], skeleton.rest_rotations[others])


@settings(max_examples=25)
@given(seed=seeds, x=degrees, y=degrees, z=degrees)
def test_angles_are_those_that_the_skeleton_gives_back(folder: Path, seed: int, x: float, y: float, z: float) -> None:
    skeleton = skeleton_of(seed)
    axes = np.tile(np.eye(3)[[2, 0, 1]], (5, 1, 1))
    skeleton = replace(skeleton, axes=axes)
    motion = ps.load_motion(written(folder, {"joint2": {"x": x, "y": y, "z": z}}), skeleton)
    found = np.degrees(skeleton.angles(motion.rotations[0]))
    np.testing.assert_allclose(found[2], (x, y, z), atol=1e-6)
    np.testing.assert_allclose(np.delete(found, 2, axis=0), 0, atol=1e-6)
    # The joint's first degree of freedom is its own z axis here, so that a bend about that is the same.
    one = ps.load_motion(written(folder, {"joint2": {"x": x}}), skeleton)
    same = ps.load_motion(written(folder, {"joint2": {"bend": x, "axis": [0, 0, 5]}}), skeleton)
    assert angles_between(one.rotations, same.rotations).max() < 1e-9


def test_an_angle_that_a_joint_does_not_have_is_refused(tmp_path: Path) -> None:
    skeleton = replace(skeleton_of(0), axes=np.tile(np.diag([1.0, 0, 0]), (5, 1, 1)))
    with pytest.raises(FileError, match=r"pose 'fist': joint 'joint1' rotates about x, not y; use that, or .*bend"):
        ps.load_motion(written(tmp_path, {"joint1": {"x": 10, "y": 5}}), skeleton)
    assert len(ps.load_motion(written(tmp_path, {"joint1": {"x": 10, "y": 0}}), skeleton)) == 1


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        ({"bend": 40}, 'expected "bend" and "axis", or "x", "y", "z", in degrees, got \'bend\''),
        ({}, "in degrees, got nothing"),
        ({"roll": 3}, "in degrees, got 'roll'"),
        ({"x": 3, "bend": 3, "axis": [1, 0, 0]}, "in degrees, got 'x', 'bend', 'axis'"),
        ({"bend": 40, "axis": [0, 0, 0]}, "axis: expected a direction such as"),
        ({"bend": 40, "axis": [0, 1]}, "axis: expected 3 numbers, got 2"),
        ({"bend": "much", "axis": [0, 1, 0]}, "bend: expected a finite number of ordinary size, got 'much'"),
        ({"x": float("nan")}, "x: expected a finite number of ordinary size, got nan"),
    ],
)
def test_a_wrong_bend_or_angle_gets_one_line(tmp_path: Path, turn: object, problem: str) -> None:
    with pytest.raises(FileError, match=problem) as caught:
        pose_json.read(written(tmp_path, {"joint1": turn}))
    assert str(caught.value).startswith(f"{tmp_path / 'poses.json'}: pose 'fist': rotations: joint 'joint1': ")


def test_the_files_in_the_docs_are_read_as_they_say(tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    blocks = [
        block
        for page in ("files.md", "bring-your-own-rig.md")
        for block in re.findall(r"```json\n(.*?)```", (docs / page).read_text(), re.DOTALL)
        if '"posespace": "limits"' not in block and '"poseNames"' not in block
    ]
    assert len(blocks) == 4
    motions = {}
    for block in blocks:
        (tmp_path / "doc.json").write_text(block)
        poses = pose_json.read(tmp_path / "doc.json")
        joints = poses.joints or ("root",)
        flat = Skeleton.from_world(joints, [-1] * len(joints), np.tile(np.eye(4), (len(joints), 1, 1)))
        motions |= {name: (poses.motion(flat), flat) for name in poses.names}
    motion, skeleton = motions["reach"]
    turned = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    world = skeleton.world(motion.rotations, motion.translations)[0, 0]
    np.testing.assert_allclose(world, np.block([[turned, np.array([[3], [4], [5]])], [0, 0, 0, 1]]), atol=1e-12)
    motion, skeleton = motions["spread"]
    angles = np.degrees(skeleton.angles(motion.rotations[motion.index("spread")]))
    np.testing.assert_allclose(angles[skeleton.index("Index_Proximal_L")], (10, 0, -15), atol=1e-6)


def test_bends_without_the_first_line_of_the_own_form_get_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "poses.json"
    path.write_text(json.dumps({"fist": {"joint1": {"bend": 40, "axis": [1, 0, 0]}}}))
    with pytest.raises(FileError, match=r'holds no poses: .* begins with "posespace": "poses", "version": 1'):
        pose_json.read(path)


@pytest.fixture
def both_hands(tmp_path: Path) -> Path:
    """Poses of two hands, of which the skeleton has one."""
    turn = [0.0, 0.0, 1.0, 0.0]
    poses = {
        f"{side} {k}": {f"{joint}{k}": turn} for k in (1, 2) for side, joint in (("left", "joint"), ("right", "r"))
    }
    path = tmp_path / "poses.json"
    path.write_text(json.dumps(poses))
    return path


def test_poses_of_joints_that_the_rig_lacks_are_skipped_and_counted_if_asked(both_hands: Path) -> None:
    skeleton = skeleton_of(0)
    with pytest.raises(FileError, match=r"pose 'right 1': joint 'r1' is not in .* `partial=True` skips such poses"):
        ps.load_motion(both_hands, skeleton)
    with pytest.warns(UserWarning, match="2 of 4 poses skipped: they name joints that the skeleton lacks, .* 'r1'"):
        motion = ps.load_motion(both_hands, skeleton, partial=True)
    assert motion.names == ("left 1", "left 2")
    with pytest.raises(FileError, match="no pose is left: each names joints that the skeleton lacks, such as 'r1'"):
        ps.load_motion(both_hands, skeleton, only=["right*"], partial=True)


def test_only_chosen_poses_are_looked_at(both_hands: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ps.load_motion(both_hands, skeleton_of(0), only=["left*", "!*1"]).names == ("left 2",)
        assert ps.load_motion(both_hands, skeleton_of(0), only=["left*"], partial=True).names == ("left 1", "left 2")
    with pytest.raises(FileError, match="only 'up': matches none of the 4 poses; the first are 'left 1', 'right 1'"):
        ps.load_motion(both_hands, skeleton_of(0), only=["up"])


def test_stored_poses_are_chosen_by_name_too(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=6, sides=6)
    train.save(tmp_path / "arm.examples")
    found = ps.load_motion(tmp_path / "arm.examples", train.rig.skeleton, only=["bend 0 *"])
    assert found.names == train.named("bend 0 *").motion.names == train.motion.named("bend 0 *").names
