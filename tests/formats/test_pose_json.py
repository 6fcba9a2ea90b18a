"""Poses as JSON: our own form to the last bit, the forms of others, and one line for damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posespace.errors import FileError, InputError
from posespace.formats import gltf, pose_json
from posespace.formats.pose_file import PoseFile
from posespace.motion import Motion
from posespace.skeleton import Skeleton

NAMES = ("root", "upper arm", "lower_arm", "other")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("posejson")


@pytest.fixture(scope="module")
def skeleton() -> Skeleton:
    frames = np.tile(np.eye(4), (4, 1, 1))
    frames[:, :3, 3] = [[0, 1, 0], [1, 0, 0], [0.5, 0, 0], [-1, 0, 0]]
    rest = Rotation.from_euler("XYZ", [[0, 0, 0], [0, 0, 30], [10, 0, 0], [0, 0, 0]], degrees=True).as_quat()
    return Skeleton(NAMES, np.array([-1, 0, 1, 0]), frames, rest)


def parse(folder: Path, content: object) -> PoseFile:
    path = folder / "poses.json"
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(data)
    return pose_json.read(path)


def own(**pose: object) -> dict[str, object]:
    return {"posespace": "poses", "version": 1, "poses": {"fist": pose}}


def column_major(matrix: np.ndarray) -> list[float]:
    return matrix.T.ravel().tolist()


def test_godot_poses_have_their_known_counts_and_fit_their_hand(data):
    poses = pose_json.read(data / "hand-godot-xr" / "poses_left.json")
    assert len(poses.names) == 25
    assert poses.names[:2] == ("Default pose", "Grip 1")
    assert set(poses.counts.values()) == {19}
    assert len(poses.joints) == 19
    hand = next(iter(gltf.read(data / "hand-godot-xr" / "hand_l.gltf").rigs.values())).skeleton
    motion = poses.motion(hand)
    assert motion.names == poses.names
    assert motion.rotations.shape == (25, 26, 4)
    given = poses.poses["Grip"].rotations["Thumb_Distal_L"]
    assert np.abs(motion.rotations[poses.names.index("Grip"), hand.index("Thumb_Distal_L")] - given).max() < 1e-6
    for joint in set(hand.names) - set(poses.joints):
        assert np.array_equal(
            motion.rotations[:, hand.index(joint)], np.tile(hand.rest_rotations[hand.index(joint)], (25, 1))
        )


def test_webxr_matrices_are_reproduced_by_the_hands_skeleton(data):
    poses = pose_json.read(data / "hand-webxr-generic" / "iwer_hand_poses.json")
    assert poses.names == ("pinch", "point", "relaxed")
    assert set(poses.counts.values()) == {25}
    hand = next(iter(gltf.read(data / "hand-webxr-generic" / "left.glb").rigs.values())).skeleton
    motion = poses.motion(hand)
    world = hand.world(motion.rotations, motion.translations)
    for row, pose in enumerate(poses.poses.values()):
        wanted = np.stack([pose.matrices[name] for name in hand.names])
        # The file holds single precision; its matrices are rotations to a few millionths.
        assert np.abs(world[row] - wanted).max() < 1e-5


quaternions = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: max(map(abs, q)) > 1e-3)
numbers = st.floats(-1e6, 1e6)


@st.composite
def motions(draw):
    count = draw(st.integers(1, 4))
    turn = draw(st.lists(st.lists(quaternions, min_size=4, max_size=4), min_size=count, max_size=count))
    shift = draw(st.lists(st.lists(st.tuples(*[numbers] * 3), min_size=4, max_size=4), min_size=count, max_size=count))
    controls = draw(st.lists(st.text(min_size=1), max_size=3, unique=True))
    values = draw(
        st.lists(st.lists(numbers, min_size=len(controls), max_size=len(controls)), min_size=count, max_size=count)
    )
    names = draw(st.lists(st.text(min_size=1), min_size=count, max_size=count, unique=True))
    times = np.sort(np.array(draw(st.lists(st.floats(0, 1e3), min_size=count, max_size=count))))
    return Motion(np.array(turn), np.array(shift), times, tuple(names), np.array(values), tuple(controls))


@given(motion=motions(), resting=st.lists(st.booleans(), min_size=4, max_size=4))
def test_writing_and_reading_gives_every_number_back(folder, skeleton, motion, resting):
    turn = np.where(np.array(resting)[:, None], skeleton.rest_rotations, motion.rotations)
    shift = np.where(np.array(resting)[:, None], 0.0, motion.translations)
    motion = Motion(turn, shift, motion.times, motion.names, motion.controls, motion.control_names)
    path = folder / "m.json"
    pose_json.write(path, motion, skeleton)
    back = pose_json.read(path).motion(skeleton)
    assert back.names == motion.names
    assert back.control_names == motion.control_names
    for part in ("rotations", "translations", "times", "controls"):
        assert np.array_equal(getattr(back, part), getattr(motion, part)), part


def test_joints_at_rest_are_left_out(tmp_path, skeleton):
    turn = np.tile(skeleton.rest_rotations, (1, 1, 1))
    turn[0, 2] = [0, 0, 1, 0]
    pose_json.write(tmp_path / "m.json", Motion(turn), skeleton)
    content = json.loads((tmp_path / "m.json").read_text())
    assert content["poses"] == {"0": {"time": 0.0, "rotations": {"lower_arm": [0.0, 0.0, 1.0, 0.0]}}}
    with pytest.raises(InputError, match="expected 4 joints"):
        pose_json.write(tmp_path / "m.json", Motion(turn[:, :2]), skeleton)


def test_times_are_used_only_if_each_pose_has_one(tmp_path, skeleton):
    content = {"posespace": "poses", "version": 1, "poses": {"a": {"time": 1.5}, "b": {"time": 2}}}
    assert parse(tmp_path, content).motion(skeleton).times.tolist() == [1.5, 2.0]
    content["poses"]["b"] = {"controls": {"smile": 1}}
    motion = parse(tmp_path, content).motion(skeleton)
    assert motion.times.tolist() == [0.0, 1 / 30]
    assert motion[0].controls == {"smile": 0.0}
    assert motion[1].controls == {"smile": 1.0}


@pytest.mark.parametrize(
    "content",
    [
        {"fist": {"upper arm": [0, 0, 1, 0]}},
        {"fist": {"upper arm": {"rotation": [0, 0, 1, 0], "comment": "bent"}}},
        {
            "format": "x y z w",
            "left": {"made by": "hand", "fist": {"note": "tight", "weight": 1, "upper arm": [0, 0, 1, 0]}},
        },
        own(rotations={"upper arm": [0, 0, 1, 0]}),
    ],
)
def test_rotations_are_found_at_any_depth(tmp_path, skeleton, content):
    poses = parse(tmp_path, content)
    assert poses.names == ("fist",)
    motion = poses.motion(skeleton)
    assert motion.rotations[0, 1].tolist() == [0, 0, 1, 0]
    assert np.array_equal(motion.rotations[0, [0, 2, 3]], skeleton.rest_rotations[[0, 2, 3]])


def test_one_pose_alone_is_named_after_its_file(tmp_path, skeleton):
    assert parse(tmp_path, {"root": [0, 0, 0, 1]}).names == ("poses",)


def test_poses_of_the_same_name_are_told_apart_by_what_holds_them(tmp_path):
    pose = {"fist": {"root": [0, 0, 0, 1]}}
    assert parse(tmp_path, {"left": pose, "right": pose}).names == ("left/fist", "right/fist")
    assert parse(tmp_path, {"left": pose, "right": {"open": pose["fist"]}}).names == ("fist", "open")


@pytest.mark.parametrize("wrap", [None, "matrix", "offsetMatrix", "offsetMatrix_colmajor"])
def test_matrices_place_joints_and_the_others_follow(tmp_path, skeleton, wrap):
    wanted = np.eye(4)
    wanted[:3, :3] = Rotation.from_euler("XYZ", [40, 50, 60], degrees=True).as_matrix()
    wanted[:3, 3] = [3, 4, 5]
    entry = column_major(wanted) if wrap is None else {wrap: column_major(wanted), "radius": 0.02}
    motion = parse(tmp_path, {"a": {"upper arm": entry}}).motion(skeleton)
    world = skeleton.world(motion.rotations, motion.translations)[0]
    rest = skeleton.rest_world
    assert np.abs(world[1] - wanted).max() < 1e-12
    assert np.abs(world[2] - wanted @ np.linalg.inv(rest[1]) @ rest[2]).max() < 1e-12
    assert np.abs(world[[0, 3]] - rest[[0, 3]]).max() < 1e-12


def test_rotations_and_matrices_may_stand_in_different_poses(tmp_path, skeleton):
    content = {"a": {"root": column_major(np.eye(4))}, "b": {"root": [0, 0, 1, 0]}}
    motion = parse(tmp_path, content).motion(skeleton)
    assert motion.translations[0, 0].tolist() == [0, -1, 0]
    assert motion.rotations[1, 0].tolist() == [0, 0, 1, 0]


def test_an_unknown_joint_is_named_with_the_closest_one(tmp_path, skeleton):
    poses = parse(tmp_path, {"fist": {"UpperArm": [0, 0, 0, 1]}})
    with pytest.raises(FileError, match="joint 'UpperArm' is not in the skeleton; the closest is 'upper arm'"):
        poses.motion(skeleton)
    with pytest.raises(FileError, match="not in the skeleton"):
        parse(tmp_path, {"fist": {"upper arm" * 100_000: [0, 0, 0, 1]}}).motion(skeleton)


TINY = [*column_major(np.diag([1e-300, 1e-300, 1e-300, 1]))[:12], 1e300, 0, 0, 1]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\x00\xff\xfe" * 100, "zero bytes"),
        (b'{"a": {"root": [0, 0, 0,', "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
        (b'{"a":' * 200_000, "not valid JSON"),
        (b'{"a": {"root": [0, 0, 0, ' + b"9" * 5000 + b"]}}", "not valid JSON"),
        ([], "expected a JSON object"),
        (3, "expected a JSON object"),
        ({}, "no poses"),
        ({"a": "b"}, "no poses"),
        ({"fist": {"root": [0, 0, 1]}}, "no poses"),
        ({"fist": {"root": [0, 0, True, 1]}}, "no poses"),
        ({"fist": {"root": [0, 0, "0", 1]}}, "no poses"),
        ({"fist": {"root": [0, 0, 0, 1], "other": [0, 1]}}, "pose 'fist': joint 'other': expected 4 or 16 numbers"),
        ({"fist": {"root": [0, 0, 0, 1], "other": {}}}, "pose 'fist': joint 'other': expected 4 or 16 numbers"),
        ({"fist": {"root": [0, 0, 0, 0]}}, "nonzero length"),
        (
            {"fist": {"root": [0, 0, 0, float("nan")]}},
            "pose 'fist': root: expected finite numbers of ordinary size, got nan",
        ),
        ({"fist": {"root": [0, 0, 0, float("-inf")]}}, "expected finite numbers of ordinary size, got -inf"),
        ({"fist": {"root": [0, 0, 0, 10**400]}}, "expected finite numbers of ordinary size, got a huge number"),
        ({"fist": {"root": [0, 0, 0, 1], "other": column_major(np.eye(4))}}, "rotations or matrices, got both"),
        ({"fist": {"root": [0.0] * 15 + [1.0]}}, "flat"),
        (
            {"fist": {"root": np.array([[1, 0, 0, 5], [0, 1, 0, 5], [0, 0, 1, 5], [0, 0, 0, 1.0]]).ravel().tolist()}},
            "column",
        ),
        ({"fist": {"root": column_major(np.diag([2.0, 2, 2, 1]))}}, "scale that changes"),
        ({"fist": {"root": TINY}}, "scale that changes|too large or too small|ordinary size"),
        ({"": {"root": [0, 0, 0, 1]}}, "non-empty"),
        ({"posespace": "poses", "version": 2, "poses": {}}, "is a pose file of version 2; expected version 1"),
        ({"posespace": "poses", "poses": {}}, "is a pose file without a version; expected version 1"),
        ({"posespace": "poses", "version": 1}, "the file: poses is missing"),
        ({"posespace": "poses", "version": 1, "poses": {}}, "no poses"),
        ({"posespace": "poses", "version": 1, "poses": {"a": [1]}}, "pose 'a': expected an object, got a list"),
        (own(rotations=[1, 2]), "pose 'fist': rotations: expected an object, got a list"),
        (own(rotations={"root": [0, 0, 1]}), "pose 'fist': rotations: root: expected 4 numbers, got 3"),
        (own(rotations={"root": None}), "pose 'fist': rotations: root: expected a list, got null"),
        (own(translations={"root": [0, 0]}), "pose 'fist': translations: root: expected 3 numbers, got 2"),
        (
            own(controls={"smile": "wide"}),
            "pose 'fist': controls: smile: expected a finite number of ordinary size, got 'wide'",
        ),
        (
            own(controls={"smile": float("inf")}),
            "pose 'fist': controls: smile: expected a finite number of ordinary size, got inf",
        ),
        (own(controls={"": 1}), "non-empty"),
        (own(time="noon"), "pose 'fist': time: expected a finite number of ordinary size, got 'noon'"),
    ],
)
def test_a_damaged_file_gets_one_line(tmp_path, skeleton, content, problem):
    with pytest.raises(FileError, match=problem) as caught:
        parse(tmp_path, content).motion(skeleton)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "poses.json"))


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner | st.floats(), max_size=16)
        | st.dictionaries(
            st.sampled_from([*NAMES, "rotation", "rotations", "matrix", "poses", "time", "bend", "axis", "x", "z"]),
            inner,
            max_size=5,
        )
    ),
)


@settings(max_examples=150)
@given(content=trees, depth=st.sampled_from(["file", "poses", "rotations", "joint"]))
def test_no_content_gives_anything_but_one_line(folder, skeleton, content, depth):
    problem = ""
    if depth in ("rotations", "joint"):
        content = own(rotations=content if depth == "rotations" else {"root": content})
    elif depth == "poses":
        content = {"posespace": "poses", "version": 1, "poses": content}
    try:
        parse(folder, content).motion(skeleton)
    except FileError as error:
        problem = str(error)
    assert "\n" not in problem
