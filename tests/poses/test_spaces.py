"""Pose spaces of degrees of freedom: which numbers of a pose they take, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from posespace import datasets
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.spaces import PoseSpace

SKELETON = datasets.bending_arm(rings=6, sides=4)[0].rig.skeleton


def bent(elbow: float, twist: float, **controls: float) -> Pose:
    angles = np.zeros((3, 3))
    angles[1, 2], angles[2, 0] = elbow, twist
    return Pose(SKELETON.rotations(angles), controls=controls)


def test_angles_are_those_of_the_axes_and_controls_stand_among_them() -> None:
    space = PoseSpace("freedoms", ("forearm.z", "load", "hand.x"))
    pose = bent(1.2, -0.7, load=0.5)
    np.testing.assert_allclose(space.coordinates(pose, SKELETON), [1.2, 0.5, -0.7], atol=1e-9)
    motion = Motion.from_poses([pose, bent(0.1, 0.2)], ["a", "b"])
    expected = [[1.2, 0.5, -0.7], [0.1, 0.0, 0.2]]
    np.testing.assert_allclose(space.coordinates(motion, SKELETON), expected, atol=1e-9)
    assert space.joints(SKELETON) == (1, 2)
    assert space.controls(SKELETON) == ("load",)


def test_an_angle_of_an_unknown_joint_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="elbow"):
        PoseSpace("freedoms", ("elbow.z",)).joints(SKELETON)
