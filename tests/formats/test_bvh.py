"""BVH: skeleton and motion against other readers of the same numbers, and one line for damaged files."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import assert_read_or_one_line, assert_refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posespace.errors import FileError
from posespace.formats import bvh, gltf
from posespace.formats.contents import Contents

ROCKETBOX = "humanoid-rocketbox/Female_Adult_01_cheer_03"
SIX = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
THREE = "CHANNELS 3 Zrotation Xrotation Yrotation"
END = "End Site\n{\nOFFSET 0 1 0\n}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("bvh")


def parse(folder: Path, text: str | bytes) -> Contents:
    path = folder / "clip.bvh"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return bvh.read(path)


def two_joints(frames: str, root: str = SIX, child: str = THREE, count: int = 1, offset: str = "0 2 0") -> str:
    return (
        f"HIERARCHY\nROOT Hips\n{{\nOFFSET 1 2 3\n{root}\nJOINT Left Leg\n{{\nOFFSET {offset}\n{child}\n{END}}}\n}}\n"
        f"MOTION\nFrames: {count}\nFrame Time: 0.5\n{frames}\n"
    )


def turns(quaternions: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(quaternions.reshape(-1, 4)).as_matrix()


def test_rocketbox_has_its_known_joints_frames_and_seconds(data):
    contents = bvh.read(data / f"{ROCKETBOX}.bvh")
    skeleton, motion = contents.skeleton, contents.motions["Female_Adult_01_cheer_03"]
    assert len(skeleton) == 80
    assert "Bip01 L Finger0" in skeleton.names
    assert motion.rotations.shape == (96, 80, 4)
    assert motion.times[-1] == pytest.approx(3.17, abs=0.005)
    assert np.array_equal(motion.times, 0.033333 * np.arange(96))
    assert contents.notes == ()


def test_rocketbox_joints_are_where_its_gltf_has_them(data):
    contents = bvh.read(data / f"{ROCKETBOX}.bvh")
    motion, skeleton = contents.motions["Female_Adult_01_cheer_03"], contents.skeleton
    here = skeleton.world(motion.rotations, motion.translations)[..., :3, 3]
    other = gltf.read(data / f"{ROCKETBOX}.glb")
    joints = next(iter(other.rigs.values())).skeleton
    clip = next(iter(other.motions.values()))
    there = joints.world(clip.rotations, clip.translations)[..., :3, 3]
    there = there[:, [joints.index(name) for name in skeleton.names]]
    # The BVH is in centimetres with z up and starts at the pelvis, the glTF is in metres with y up and on the ground.
    gap = (here[..., [1, 2, 0]] / 100 - there).reshape(-1, 3)
    assert np.ptp(gap, axis=0).max() < 1e-5


def test_makehuman_poses_stand_where_people_stand(data):
    paths = sorted((data / "makehuman-cc0" / "poses").glob("*.bvh"))
    assert len(paths) == 9
    for path in paths:
        contents = bvh.read(path)
        skeleton, motion = contents.skeleton, contents.motions[path.stem]
        assert 163 <= len(skeleton) <= 173
        assert len(motion) == 1
        # Six channels a joint, yet the values are zero and noise: the joints keep their offsets.
        assert np.abs(motion.translations[:, skeleton.parents >= 0]).max() < 2e-4
        joints = skeleton.world(motion.rotations, motion.translations)[0, :, :3, 3]
        assert np.isfinite(joints).all()
        child = skeleton.parents >= 0
        length = np.linalg.norm(joints[child] - joints[skeleton.parents[child]], axis=1)
        assert np.abs(length - np.linalg.norm(skeleton.local_frames[child, :3, 3], axis=1)).max() < 2e-4
        assert 12 < np.linalg.norm(np.ptp(joints, axis=0)) < 26


def test_makehuman_t_pose_spreads_level_arms(data):
    contents = bvh.read(data / "makehuman-cc0" / "poses" / "tpose.bvh")
    motion, skeleton = contents.motions["tpose"], contents.skeleton
    joints = skeleton.world(motion.rotations, motion.translations)[0, :, :3, 3]
    left, right = joints[skeleton.index("wrist.L")], joints[skeleton.index("wrist.R")]
    assert left[0] > 5
    assert np.allclose(left, right * (-1, 1, 1), atol=0.05)
    shoulder = joints[skeleton.index("upperarm01.L")]
    assert abs(left[2] - shoulder[2]) < 0.1 * (left[0] - shoulder[0])


@pytest.mark.parametrize("order", ["".join(order) for order in itertools.permutations("XYZ")])
def test_rotations_are_intrinsic_in_the_order_of_the_channels(tmp_path, order):
    angles = np.random.default_rng(0).uniform(-400, 400, (7, 6))
    channels = "CHANNELS 3 " + " ".join(f"{axis}rotation" for axis in order)
    frames = "\n".join(" ".join(map(repr, row)) for row in angles.tolist())
    motion = parse(tmp_path, two_joints(frames, channels, channels, 7)).motions["clip"]
    for joint in range(2):
        wanted = Rotation.from_euler(order, angles[:, 3 * joint : 3 * joint + 3], degrees=True).as_matrix()
        assert np.abs(turns(motion.rotations[:, joint]) - wanted).max() < 1e-12


def test_fewer_channels_in_any_mix_are_read(tmp_path):
    text = two_joints(
        "10 20 30 40\n-1e1 +2.0E+01 .5 0", "CHANNELS 2 yROTATION Zposition", "Channels 2 Xrotation Yrotation", 2
    )
    motion = parse(tmp_path, text).motions["clip"]
    assert motion.translations[:, 0].tolist() == [[0, 0, 17], [0, 0, 17]]
    assert np.allclose(turns(motion.rotations[:, 0]), Rotation.from_euler("Y", [[10], [-10]], degrees=True).as_matrix())
    wanted = Rotation.from_euler("XY", [[30, 40], [0.5, 0]], degrees=True).as_matrix()
    assert np.allclose(turns(motion.rotations[:, 1]), wanted)


def test_a_joint_without_channels_rests(tmp_path):
    motion = parse(tmp_path, two_joints("1 2 3 0 0 0", child="")).motions["clip"]
    assert motion.rotations[0].tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]


def test_a_roots_positions_replace_its_offset(tmp_path):
    contents = parse(tmp_path, two_joints("1 2 3 0 0 0 0 0 0\n5 2 3 0 0 0 0 0 0", count=2))
    assert contents.motions["clip"].translations.tolist() == [[[0, 0, 0], [0, 0, 0]], [[4, 0, 0], [0, 0, 0]]]
    assert contents.skeleton.rest_world[:, :3, 3].tolist() == [[1, 2, 3], [1, 4, 3]]


@pytest.mark.parametrize(
    ("positions", "shifts"),
    [
        (["0 0 0", "0 0 0"], [[0, 0, 0], [0, 0, 0]]),  # unused: the offset holds
        (["0 2 0", "0 2 0"], [[0, 0, 0], [0, 0, 0]]),  # the offset again
        (["0 2 0", "1 2.5 0"], [[0, 0, 0], [1, 0.5, 0]]),  # in place of the offset, as most programs do
        (["0 0 0", "0.5 0.25 0"], [[0, 0, 0], [0.5, 0.25, 0]]),  # from the offset, as MakeHuman does
        (["1e-6 -1e-6 0", "0 0 0"], [[1e-6, -1e-6, 0], [0, 0, 0]]),  # the noise of an exporter
    ],
)
def test_positions_of_other_joints_replace_the_offset_or_start_from_it(tmp_path, positions, shifts):
    frames = "\n".join(f"1 2 3 0 0 0 {position} 0 0 0" for position in positions)
    motion = parse(tmp_path, two_joints(frames, child=SIX, count=2)).motions["clip"]
    assert motion.translations[:, 1].tolist() == shifts


def test_a_joint_at_zero_keeps_its_offset_where_others_replace_theirs(tmp_path):
    third = f"JOINT Arm\n{{\nOFFSET 3 0 0\n{SIX}\n{END}}}\n"
    text = two_joints("1 2 3 0 0 0 0 2 0 0 0 0 0 0 0 0 0 0", child=SIX).replace(
        "}\n}\nMOTION", f"}}\n{third}}}\nMOTION"
    )
    motion = parse(tmp_path, text).motions["clip"]
    assert not motion.translations.any()


def test_loose_spelling_and_old_line_ends_are_read(tmp_path):
    text = (
        "\ufeff hierarchy\r\nRoot  A {\r\n\toffset\t0 0 0\r\n\tChannels 3 zrotation XROTATION Yrotation\r\n"
        "joint B  two\r\n{ OFFSET 1 0 0\r\nend site { OFFSET 0 0 0 } } }\r\n"
        "ROOT C\r{\rOFFSET 0 0 1\rCHANNELS 0\r}\r\n motion \r\nFRAMES:1\r\nframe  time :  .1\r\n  1 2\r\n\t3 \r\n\r\n"
    )
    contents = parse(tmp_path, text)
    assert contents.skeleton.names == ("A", "B  two", "C")
    assert contents.skeleton.parents.tolist() == [-1, 0, -1]
    assert len(contents.motions["clip"]) == 1


def test_repeated_names_are_made_unique_and_told(tmp_path):
    child = f"JOINT a\n{{\nOFFSET 0 0 0\n{END}}}\n"
    other = child.replace("JOINT a", "JOINT a#2")
    text = f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\n{child}{other}{child}}}\nMOTION\nFrames: 0\nFrame Time: 0\n"
    contents = parse(tmp_path, text)
    assert contents.skeleton.names == ("a", "a#2", "a#2#2", "a#3")
    assert contents.notes == ("3 joints renamed, because their names are repeated", "holds no frames")


def test_no_frames_is_a_skeleton_alone(tmp_path):
    contents = parse(tmp_path, two_joints("", count=0))
    assert len(contents.skeleton) == 2
    assert contents.motions == {}


def test_deep_files_are_read_and_too_many_joints_are_not(tmp_path):
    def chain(depth: int) -> str:
        opening = "JOINT a\n{\nOFFSET 0 0 0\n" * depth
        return f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\n{opening}{'}' * (depth + 1)}\nMOTION\nFrames: 0\nFrame Time: 1\n"

    assert len(parse(tmp_path, chain(20_000)).skeleton) == 20_001
    with pytest.raises(FileError, match="more than 30000 joints"):
        parse(tmp_path, chain(30_000))


GOOD = two_joints("1 2 3 10 20 30 40 50 60")
LAST = "1 2 3 10 20 30 40 50 60"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "does not start with HIERARCHY"),
        (b"\x00\xff\xfe\x01" * 1000, "zero bytes"),
        ("HIERARCHY", "no MOTION"),
        (GOOD[: GOOD.index("MOTION")], "no MOTION"),
        ("HIERARCHY\nMOTION\nFrames: 0\nFrame Time: 1\n", "no joints"),
        (GOOD.replace("}\n}\nMOTION", "}\nMOTION"), "not closed"),
        (GOOD.replace("}\nMOTION", "}\n}\nMOTION"), "one '}' too many"),
        (GOOD.replace("ROOT Hips\n{", "ROOT Hips\n{{"), "one '{' too many"),
        (GOOD.replace("ROOT Hips\n", ""), "one '{' too many"),
        (GOOD.replace("ROOT Hips\n{", "ROOT Hips\n"), "not understood"),
        (GOOD.replace("End Site\n{", "End Site\n{\nJOINT x\n{"), "is where no joint can be"),
        (GOOD.replace("OFFSET 0 2 0\n", ""), "'Left Leg' has no OFFSET"),
        (GOOD.replace("OFFSET 0 2 0", "OFFSET 0 2"), "three numbers"),
        (GOOD.replace("OFFSET 0 2 0", "OFFSET 0 two 0"), "three numbers"),
        (GOOD.replace("OFFSET 0 2 0", "OFFSET 0 nan 0"), "three numbers"),
        (GOOD.replace("OFFSET 0 1 0", "OFFSET 0 inf 0"), "three numbers"),
        (GOOD.replace("3 Zrotation", "3 Wrotation"), "'Left Leg': expected Xposition, ..., Zrotation, got 'wrotation'"),
        (GOOD.replace("3 Zrotation", "4 Zrotation"), "'Left Leg': its CHANNELS"),
        (GOOD.replace("3 Zrotation", "-3 Zrotation"), "'Left Leg': its CHANNELS"),
        (GOOD.replace("3 Zrotation", "3 Xrotation"), "'Left Leg': its CHANNELS"),
        (GOOD.replace("CHANNELS 3", "CHANNELS\nZONK 3"), "CHANNELS"),
        (GOOD.replace("OFFSET 0 2 0", "WEIGHT 70"), "not understood: 'WEIGHT 70'"),
        (GOOD.replace("Frames: 1", ""), "expected 'Frames"),
        (GOOD.replace("Frames: 1", "Frames: one"), "expected 'Frames"),
        (GOOD.replace("Frames: 1", "Frames: -1"), "expected 'Frames"),
        (GOOD.replace("Frame Time: 0.5", ""), "expected 'Frames"),
        (GOOD.replace("Time: 0.5", "Time: 1s"), "Frame Time in seconds"),
        (GOOD.replace("Time: 0.5", "Time: -1"), "Frame Time in seconds"),
        (GOOD.replace("Time: 0.5", "Time: nan"), "Frame Time in seconds"),
        (GOOD.replace("Time: 0.5", "Time: inf"), "Frame Time in seconds"),
        (GOOD.replace("Frames: 1", "Frames: 2"), "more than a file this long"),
        (GOOD.replace("Frames: 1", "Frames: 2147483648"), "more than a file this long"),
        (GOOD.replace("Frames: 1", "Frames: 0"), "= 0 numbers, got 9"),
        (GOOD.replace(LAST, LAST + " 7"), "= 9 numbers, got 10"),
        (GOOD.replace(LAST, "1 2 3 10 20 30 40 50.00"), "= 9 numbers, got 8"),
        (GOOD.replace(LAST, LAST.replace("50", "fifty")), "expected numbers in its frames"),
        (GOOD.replace(LAST, LAST.replace("50", "0,5")), "expected numbers in its frames"),
        (GOOD.replace(LAST, LAST.replace("50", "nan")), "frame 0 holds"),
        (GOOD.replace(LAST, LAST.replace("50", "1e999")), "frame 0 holds"),
        (two_joints("-1.7e308 0 0 0 0 0 0 0 0").replace("OFFSET 1", "OFFSET 1.7e308"), "finite"),
        (two_joints("", "", "", 10**9), "more than a file this long"),
        (two_joints("0", "CHANNELS 1 Xrotation", "", 10**9), "more than a file this long"),
    ],
)
def test_a_damaged_file_gets_one_line(tmp_path, text, problem):
    assert_refused(lambda: parse(tmp_path, text), tmp_path / "clip.bvh", problem)


def test_few_channels_on_many_joints_ask_for_no_more_memory_than_a_file_may(tmp_path):
    joints = "JOINT a\n{\nOFFSET 0 0 0\n}\n" * 20_000
    head = f"HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n{joints}}}\n"
    with pytest.raises(FileError, match="more than a file this long"):
        parse(tmp_path, head + "MOTION\nFrames: 100000\nFrame Time: 1\n" + "0 " * 100_000)


@settings(max_examples=400)
@given(junk=st.binary(max_size=12), where=st.integers(0, len(GOOD)), drop=st.integers(0, 40))
def test_no_damage_gives_anything_but_one_line(folder, junk, where, drop):
    good = GOOD.encode()
    assert_read_or_one_line(lambda: parse(folder, good[:where] + junk + good[where + drop :]))
