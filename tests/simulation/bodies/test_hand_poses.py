"""The poses of the hand's data set: within the limits, coupled, clear of themselves, and each only once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posespace.check import Floats
from posespace.formats import pose_json
from posespace.motion import Motion
from posespace.poses.digests import pose_digests
from posespace.simulation.bodies import hand_bones
from posespace.simulation.bodies.body import Bone
from posespace.simulation.bodies.clearance import gaps
from posespace.simulation.bodies.hand_bones import FINGERS, NAMES, rest_flexion
from posespace.simulation.bodies.hand_clearance import bones_clear
from posespace.simulation.bodies.hand_grasps import grasps, named
from posespace.simulation.bodies.hand_poses import all_poses, further_poses, pairs
from posespace.simulation.settings import Settings
from posespace.skeleton import Skeleton

PARTS = hand_bones.segments()
SKELETON = hand_bones.skeleton(PARTS)
KINDS = all_poses()
COUNTS = {"ranges": 117, "random": 25, "pairs": 32, "train grasps": 40, "between": 66, "grasps": 25, "named": 12}


def radians(motion: Motion) -> Floats:
    return SKELETON.angles(motion.rotations.astype(np.float64))


def flexion(motion: Motion, joint: str) -> Floats:
    """Anatomical degrees (P,) that a joint is bent by."""
    return np.asarray(np.degrees(radians(motion)[:, NAMES.index(joint), 0]) + rest_flexion(joint))


def turn(motion: Motion, joint: str) -> Floats:
    return np.asarray(np.degrees(radians(motion)[:, NAMES.index(joint), 1]))


# Clearance


def test_gaps_are_those_of_sampled_capsules() -> None:
    generator = np.random.default_rng(4)
    still = Skeleton.from_world(("a",), (-1,), np.eye(4)[None])
    ends = generator.uniform(-20, 20, (40, 2, 3))
    bones = [Bone(0, start, end, 2.0, 2.0) for start, end in ends]
    couples = np.arange(40, dtype=np.int32).reshape(-1, 2)
    found = gaps(still, bones, couples, still.rest_rotations[None])[0]
    t = np.linspace(0, 1, 400)[:, None]
    for gap, (one, other) in zip(found, couples, strict=True):
        a, b = (ends[k, 0] + t * (ends[k, 1] - ends[k, 0]) for k in (one, other))
        assert gap == pytest.approx(np.linalg.norm(a[:, None] - b, axis=2).min() - 4, abs=0.02)


def test_gaps_follow_the_joints() -> None:
    tips = [list(PARTS).index(name) for name in ("thumb_2", "index_3")]
    motion = named()[[named().index("pinch"), named().index("jar lid")]]
    close, far = gaps(SKELETON, hand_bones.flesh(PARTS), np.array([tips]), motion.rotations.astype(np.float64))[:, 0]
    assert -2 < close < 0
    assert far > 40


def test_crossing_bones_are_not_clear() -> None:
    angles = np.zeros((3, len(NAMES), 3))
    angles[1, NAMES.index("index_mcp"), 1], angles[1, NAMES.index("middle_mcp"), 1] = np.radians((-20, 20))
    angles[2, NAMES.index("index_mcp"), 0] = np.radians(60)
    assert bones_clear(angles).tolist() == [True, False, True]


def test_fingers_that_cross_on_the_way_are_not_clear() -> None:
    """The thumb ends outside a fist, but the index would have closed through it."""
    angles = np.zeros((1, len(NAMES), 3))
    for name, bend, side in (("thumb_cmc", 30, 0), ("thumb_mcp", 40, 0), ("thumb_ip", 50, 0)):
        angles[0, NAMES.index(name), :2] = np.radians((bend, side))
    for finger in FINGERS:
        for joint, bend in (("mcp", 86), ("pip", 98), ("dip", 62)):
            name = f"{finger}_{joint}"
            angles[0, NAMES.index(name), 0] = np.radians(bend - rest_flexion(name))
    assert not bones_clear(angles).any()
    bones, pair = hand_bones.bones(PARTS), [list(PARTS).index(name) for name in ("thumb_1", "index_3")]
    at_the_end, halfway = (
        gaps(SKELETON, bones, np.array([pair]), SKELETON.rotations(part * angles))[0, 0] for part in (1.0, 0.75)
    )
    assert at_the_end > 2.5 > halfway


# The data set


def test_counts_and_names() -> None:
    assert {kind: len(motion) for kind, motion in KINDS.items()} == COUNTS
    names = [name for motion in KINDS.values() for name in motion.names]
    assert len(set(names)) == len(names)
    starts = {"random": "random ", "pairs": "pair ", "train grasps": "train grasp ", "between": "between "}
    for kind, start in (starts | {"grasps": "grasp "}).items():
        assert all(name.startswith(start) for name in KINDS[kind].names)


def test_no_pose_comes_twice() -> None:
    digests = [digest for motion in KINDS.values() for digest in pose_digests(motion, SKELETON)]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("kind", COUNTS)
def test_poses_are_within_the_limits(kind: str) -> None:
    for pose, name in zip(KINDS[kind], KINDS[kind].names, strict=True):
        assert not SKELETON.beyond_limits(pose.rotations.astype(np.float64), 1e-5), name


@pytest.mark.parametrize("kind", [kind for kind in COUNTS if kind != "ranges"])
def test_bones_and_flesh_are_clear(kind: str) -> None:
    assert bones_clear(radians(KINDS[kind])).all()


def test_pairs_turn_two_degrees_of_freedom() -> None:
    assert ((np.abs(radians(pairs())) > 1e-4).sum(axis=(1, 2)) == 2).all()
    assert "pair index_mcp.x +82 index_pip.x +86" in pairs().names


def test_the_command_makes_ranges_and_random_poses_by_itself() -> None:
    pytest.importorskip("skimage")
    pytest.importorskip("netgen")
    from posespace.simulation.bodies.hand import hand
    from posespace.simulation.poses import poses_to_simulate

    body = hand(0)
    made = poses_to_simulate(body.rig, Settings(), body.accept)
    kinds = KINDS["ranges"], KINDS["random"]
    assert made.names == (*kinds[0].names, *kinds[1].names)
    np.testing.assert_allclose(made.rotations, np.concatenate([kind.rotations for kind in kinds]), atol=1e-6)
    assert not set(made.names) & set(further_poses().names)


def test_further_poses_go_through_a_file(tmp_path: Path) -> None:
    motion = further_poses()
    pose_json.write(tmp_path / "more.json", motion, SKELETON)
    again = pose_json.read(tmp_path / "more.json").motion(SKELETON)
    assert again.names == motion.names
    np.testing.assert_allclose(again.rotations, motion.rotations, atol=1e-6)


# Grasps


def test_grasps_are_those_of_their_seed() -> None:
    one, again, other = (grasps(6, seed).rotations for seed in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    assert not set(pose_digests(Motion(one), SKELETON)) & set(pose_digests(Motion(other), SKELETON))
    np.testing.assert_array_equal(grasps(30, 1).rotations[:6], one)


def test_joints_of_a_grasp_go_together() -> None:
    many = grasps(400, 5)
    pip = {finger: flexion(many, f"{finger}_pip") for finger in FINGERS}
    for finger in FINGERS:
        np.testing.assert_allclose(flexion(many, f"{finger}_dip"), pip[finger] * 2 / 3, atol=0.01)
        assert np.corrcoef(pip[finger], flexion(many, f"{finger}_mcp"))[0, 1] > 0.8
        most = 20 * np.clip(1 - flexion(many, f"{finger}_mcp") / 90, 0, 1)
        assert (np.abs(turn(many, f"{finger}_mcp")) <= most + 0.01).all()
    assert np.abs(turn(many, "middle_mcp")).max() < 0.01
    assert np.abs(pip["ring"] - pip["little"]).max() <= 5.01
    assert np.abs(pip["index"] - pip["middle"]).max() > 10
    assert np.corrcoef(pip["middle"], flexion(many, "wrist"))[0, 1] < -0.7
    assert np.corrcoef(pip["middle"], flexion(many, "thumb_cmc"))[0, 1] > 0.5


def test_grasps_go_from_an_open_hand_to_a_fist() -> None:
    pip = flexion(grasps(400, 5), "index_pip")
    assert pip.min() == pytest.approx(0, abs=0.01)
    assert pip.max() == pytest.approx(100, abs=0.01)
    counts, _ = np.histogram(flexion(grasps(400, 5), "middle_pip"), bins=np.linspace(0, 100.01, 6))
    assert counts.min() > 40


def test_named_poses_differ_by_more_than_a_little() -> None:
    angles = np.degrees(radians(named()))
    apart = np.abs(angles[:, None] - angles).max(axis=(2, 3)) + 90 * np.eye(len(angles))
    assert apart.min() > 15


def test_a_fist_is_closed_and_a_key_is_held_against_the_index() -> None:
    motion = named()
    fist = motion[[motion.index("fist")]]
    assert all(flexion(fist, f"{finger}_pip") > 90 for finger in FINGERS)
    order = list(PARTS)
    rotations = motion.rotations.astype(np.float64)
    for name, other in (("fist", "index_2"), ("key", "index_2"), ("pen", "index_3"), ("knife", "middle_2")):
        couple = np.array([(order.index("thumb_2"), order.index(other))])
        gap = gaps(SKELETON, hand_bones.flesh(PARTS), couple, rotations[[motion.index(name)]])[0, 0]
        assert -2.5 < gap < 1, name
