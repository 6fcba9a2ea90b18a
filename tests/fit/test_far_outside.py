"""Far beyond its examples a skin stays bounded, and the player does as the reference does."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers.clips import bending, bulging, shifting, tube_rig

import posespace as ps
from posespace.geometry import rotations
from posespace.poses.parts import parts_of

BOUND = 3.0
"""Corrections far outside are at most so many times the largest of the examples."""

METHODS = {
    "psd": ps.PSD(),
    "psd of sculpts": ps.PSD("multiquadric"),
    "eigenskin": ps.EigenSkin(),
    "eigenskin of cubes": ps.EigenSkin(kernel="cubic"),
    "muscles": ps.Muscles(),
}
TUBE = tube_rig()
ARM = ps.datasets.bending_arm(rings=16, sides=8)[0]


@cache
def examples_of(kind: str) -> ps.Examples:
    if kind == "turns alone":
        return ARM
    return bulging(TUBE, bending(32) if kind == "turns together" else shifting(32))


def far(examples: ps.Examples) -> ps.Motion:
    """The poses with all angles tripled and all shifts ten times as large."""
    parts = parts_of(examples.rig.skeleton)
    motion = examples.motion
    turns = parts.rotated(3 * parts.angles(parts.of(motion)[0]))
    return ps.Motion(rotations.normalize(turns), 10 * motion.translations)


@pytest.mark.parametrize("kind", ["turns alone", "turns together", "shifts"])
@pytest.mark.parametrize("name", METHODS)
def test_corrections_far_outside_are_bounded_and_play_as_the_reference(name: str, kind: str) -> None:
    examples = examples_of(kind)
    skin = METHODS[name].fit(examples)
    player = skin.compile()
    seen = max(float(np.abs(examples.residual(k)[0]).max()) for k in range(len(examples)))
    for pose in far(examples)[::3]:
        assert np.abs(skin.displacements(pose)).max() < BOUND * seen
        points = skin.pose(pose)[0]
        np.testing.assert_allclose(player(pose)[0], points, atol=1e-5 * np.abs(points).max())
