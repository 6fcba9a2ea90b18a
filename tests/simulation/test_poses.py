"""Which poses are simulated: ranges in steps, single angles unseen in those, and random poses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.simulation.bodies import hand_bones
from posespace.simulation.poses import freedoms, joint_ranges, random_poses, single_draws
from posespace.skeleton import Skeleton

SKELETON = hand_bones.skeleton(hand_bones.segments())
FREEDOMS = freedoms(SKELETON)


def elbow(low: float, high: float) -> Skeleton:
    """Two joints, of which the second bends within limits in degrees."""
    axes, limits = np.zeros((2, 3, 3)), np.zeros((2, 3, 2))
    axes[1, 0, 0], limits[1, 0] = 1.0, np.radians((low, high))
    return Skeleton.from_world(("arm", "elbow"), (-1, 0), np.tile(np.eye(4), (2, 1, 1)), axes, limits)


def degrees(skeleton: Skeleton, motion: Motion) -> Floats:
    return np.asarray(np.degrees(skeleton.angles(motion.rotations.astype(np.float64))))


def limits_of(skeleton: Skeleton) -> Floats:
    assert skeleton.limits is not None
    return np.asarray(np.degrees(skeleton.limits))


def stops_of(joint: int, axis: int) -> Floats:
    """The fitted angles of a degree of freedom, in order."""
    return np.unique(degrees(SKELETON, joint_ranges(SKELETON))[:, joint, axis].round(4))


@given(st.floats(5, 60))
def test_ranges_go_through_every_range_in_equal_steps(step: float) -> None:
    motion = joint_ranges(SKELETON, step)
    angles, limits = degrees(SKELETON, motion), limits_of(SKELETON)
    assert motion.names[0] == "rest"
    assert ((np.abs(angles) > 1e-3).sum(axis=(1, 2))[1:] == 1).all()
    np.testing.assert_allclose(np.stack([angles.min(axis=0), angles.max(axis=0)], axis=-1), limits, atol=1e-3)
    for joint, axis in FREEDOMS:
        stops = np.unique(angles[:, joint, axis].round(3))
        assert np.diff(stops).max() <= step + 1e-2
        for side in (stops[stops <= 0], stops[stops >= 0]):
            assert np.ptp(np.diff(side)) < 1e-2


def test_the_names_of_ranges_say_joint_axis_and_angle() -> None:
    names = joint_ranges(SKELETON).names
    assert "index_pip.x +69" in names
    assert "thumb_cmc.y -20" in names


def test_single_draws_are_unseen_and_near_both_ends() -> None:
    motion = single_draws(SKELETON, seed=1)
    angles, limits = degrees(SKELETON, motion), limits_of(SKELETON)
    assert len(motion) == 3 * len(FREEDOMS)
    assert ((np.abs(angles) > 1e-3).sum(axis=(1, 2)) == 1).all()
    for joint, axis in FREEDOMS:
        stops = stops_of(joint, axis)
        own = angles[np.abs(angles[:, joint, axis]) > 1e-3, joint, axis]
        assert np.abs(own[:, None] - stops).min() > 0.99
        for middle in ((stops[0] + stops[1]) / 2, (stops[-2] + stops[-1]) / 2):
            assert np.abs(own - middle).min() < 1e-3
        assert (own > limits[joint, axis, 0]).all()
        assert (own < limits[joint, axis, 1]).all()
    assert "between index_pip.x +77" in motion.names


def test_single_draws_come_from_the_whole_range() -> None:
    drawn = np.concatenate(
        [degrees(elbow(-40, 90), single_draws(elbow(-40, 90), seed))[:, 1, 0] for seed in range(400)]
    )
    counts, _ = np.histogram(drawn, bins=np.linspace(-40, 90, 14))
    assert (counts > 5).all()


def test_a_range_of_one_interval_has_one_middle() -> None:
    assert len(single_draws(elbow(0, 15), seed=1)) == 2
    assert single_draws(elbow(0, 1.5), seed=1).names == ("between elbow.x +1",)


def test_random_poses_fill_the_whole_range() -> None:
    angles, limits = degrees(SKELETON, random_poses(SKELETON, 2000, seed=3)), limits_of(SKELETON)
    for joint, axis in FREEDOMS:
        low, high = limits[joint, axis]
        share = (angles[:, joint, axis] - low) / (high - low)
        assert share.min() > -1e-6
        assert share.min() < 0.01
        assert share.max() < 1 + 1e-6
        assert share.max() > 0.99
        assert abs(share.mean() - 0.5) < 0.04


def test_random_poses_are_those_of_their_seed() -> None:
    one, again, other = (random_poses(SKELETON, 5, seed).rotations for seed in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    assert one.tobytes() != other.tobytes()
    more = random_poses(SKELETON, 100, 1)
    np.testing.assert_array_equal(more.rotations[:5], one)
    assert more.names[-1] == "random 99"
    assert len(random_poses(SKELETON, 0, 1)) == 0


def test_poses_that_are_not_accepted_are_drawn_again() -> None:
    def flexed(angles: Floats) -> NDArray[np.bool_]:
        return np.asarray(angles[:, 1, 0] > 0)

    drawn = random_poses(SKELETON, 100, seed=1, accept=flexed)
    assert len(drawn) == 100
    assert (degrees(SKELETON, drawn)[:, 1, 0] > 0).all()
    with pytest.raises(InputError, match="expected 3 that are accepted, got 0"):
        random_poses(SKELETON, 3, seed=1, accept=lambda angles: np.zeros(len(angles), dtype=bool))


def test_skeletons_without_finite_limits_are_refused() -> None:
    free = Skeleton.from_world(("a",), (-1,), np.eye(4)[None])
    with pytest.raises(InputError, match="expected joint limits, got none"):
        joint_ranges(free)
    endless = np.tile([-np.inf, np.inf], (1, 3, 1))
    with pytest.raises(InputError, match="expected finite ranges"):
        random_poses(Skeleton.from_world(("a",), (-1,), np.eye(4)[None], limits=endless), 1, 1)
    endless = np.array([[[0, np.inf], [0, 0], [0, 0]]])
    with pytest.raises(InputError, match="expected finite ranges"):
        joint_ranges(Skeleton.from_world(("a",), (-1,), np.eye(4)[None], limits=endless))
    with pytest.raises(InputError, match="step: expected above 0"):
        joint_ranges(SKELETON, 0.0)
