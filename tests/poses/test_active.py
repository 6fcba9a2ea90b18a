"""What moves, from rest or during a clip, and the spaces it spans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import posespace as ps
from posespace.poses.active import active_in_poses, active_in_space, active_names, at_rest, changing, single_spaces

TRAIN, _ = ps.datasets.bending_arm(rings=8, sides=6)
RIG = TRAIN.rig
REST = RIG.rest


def posed(forearm: float = 0.0, smile: float = 0.0, shift: float = 0.0) -> ps.Pose:
    turns = REST.rotations.astype(np.float64)
    turns[1] = RIG.skeleton.rotations(np.array([[0, 0, 0], [0, 0, forearm], [0, 0, 0.0]]))[1]
    shifts = np.zeros((3, 3))
    shifts[2, 0] = shift
    return ps.Pose(turns, shifts, {"smile": smile})


def test_what_a_pose_moves_from_rest() -> None:
    motion = ps.Motion.from_poses([posed(), posed(0.5), posed(smile=1.0), posed(0.5, 1.0), posed(1e-4, 1e-7)])
    found = active_in_poses(RIG, motion)
    assert [active_names(active, RIG.skeleton) for active in found] == [
        (),
        ("forearm",),
        ("smile",),
        ("forearm", "smile"),
        (),
    ]
    np.testing.assert_array_equal(at_rest(RIG, motion), [not active for active in found])
    spaces = single_spaces(RIG, motion)
    assert [space.names for space in spaces] == [("forearm.z",), ("smile",)]
    np.testing.assert_array_equal(active_in_space(RIG, motion, spaces[0]), [False, True, False, True, False])


def test_a_joint_also_rests_where_the_file_shows_it() -> None:
    turn = posed(0.5)
    shown = replace(RIG.skeleton, rest_rotations=turn.rotations)
    rig = replace(RIG, skeleton=shown)
    motion = ps.Motion.from_poses([ps.Pose.rest(shown), rig.rest])
    assert active_in_poses(rig, motion) == [{1}, frozenset()]
    assert active_in_poses(rig, motion, shown=True) == [frozenset(), frozenset()]


def test_what_changes_during_a_clip() -> None:
    clip = ps.Motion.from_poses([posed(0.5, 1.0), posed(0.5, 1.0)])
    assert changing(RIG, clip) == ((), ())
    assert changing(RIG, ps.Motion.from_poses([*clip, posed(0.6, 1.0)])) == (("forearm",), ())
    assert changing(RIG, ps.Motion.from_poses([*clip, posed(0.5, 0.0)])) == ((), ("smile",))
    assert changing(RIG, clip[:0]) == ((), ())


def test_a_shift_is_part_of_a_pose_unless_it_never_changes() -> None:
    shifting = ps.Motion.from_poses([posed(), posed(shift=0.3), posed(0.5, shift=0.3)])
    assert active_in_poses(RIG, shifting) == [frozenset(), {2}, {1, 2}]
    np.testing.assert_array_equal(at_rest(RIG, shifting), [True, False, False])
    assert changing(RIG, shifting)[0] == ("forearm", "hand")
    spaces = single_spaces(RIG, shifting)
    assert [space.names for space in spaces] == [("forearm.z",), ("hand.x", "hand.tx")]
    shifted = ps.Motion.from_poses([posed(shift=0.3), posed(0.5, shift=0.3)])
    assert active_in_poses(RIG, shifted) == [frozenset(), {1}]
