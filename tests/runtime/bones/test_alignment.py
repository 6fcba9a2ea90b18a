"""Alignment of control points, compiled: that of the reference, also where the rotation is open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import random_points_skin, random_rotations

from posespace.runtime.bones.alignment import Alignment


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("poses", [1, 3])
def test_it_is_that_of_the_reference(seed: int, poses: int) -> None:
    rng = np.random.default_rng(seed)
    bones = random_points_skin(rng).bones
    if seed % 2:  # All weight on two points: the rotation about the line through them is open.
        bones = replace(bones, anchors=np.array([1.0, 1.0, 0.0, 0.0, 0.0]))
    joints = len(bones.points) + 1
    quaternions, translations = random_rotations(rng, poses, joints), rng.normal(size=(poses, joints, 3))
    for found, want in zip(
        Alignment(bones)(quaternions, translations), bones.without_whole(quaternions, translations), strict=True
    ):
        np.testing.assert_allclose(found, want, atol=1e-9)
