"""A skeleton leads control points: they are where plain skinning puts their vertices."""

from __future__ import annotations

import numpy as np
import pytest

import posespace as ps
from posespace.fit.points.control_rig import control_rig
from posespace.poses.control_points import motion_from_rig

TRAIN = ps.datasets.bending_arm(rings=12, sides=8)[0]
POINTS = [5, 30, 61, 90]


@pytest.mark.parametrize("blending", ["linear", "dual_quaternion"])
def test_points_are_where_their_vertices_are(blending: str) -> None:
    from dataclasses import replace

    leader = replace(TRAIN.rig, blending=blending)
    mesh = leader.mesh
    rig = control_rig(mesh, POINTS, np.linalg.norm(mesh.points[POINTS][:, None] - mesh.points, axis=2))
    motion = motion_from_rig(leader, TRAIN.motion, rig, POINTS)
    assert motion.names == TRAIN.motion.names
    for index in (0, 7, 29):
        world = rig.skeleton.world(motion.rotations[index], motion.translations[index])
        np.testing.assert_allclose(world[1:, :3, 3], leader.skin(TRAIN.motion[index])[POINTS], atol=1e-9)
    other = ps.datasets.bending_arm(rings=10, sides=8)[0].rig
    with pytest.raises(ps.InputError, match=r"rig: expected the \d+ vertices of the skin, in its order, got \d+"):
        motion_from_rig(other, TRAIN.motion, rig, POINTS)
