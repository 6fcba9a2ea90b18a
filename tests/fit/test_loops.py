"""Clips that come back to where they began: a pose that occurs twice is no obstacle, nor are two shapes of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers.clips import bending, bulging, carried, tube_rig

import posespace as ps
from posespace.evaluation.score import evaluate

METHODS = {
    "psd": ps.PSD(),
    "psd of sculpts": ps.PSD("multiquadric"),
    "eigenskin": ps.EigenSkin(),
    "muscles": ps.Muscles(),
}


def loop(frames: int, off: float = 0.0) -> ps.Examples:
    """A clip whose last frame has the pose of the first, and its shape but for `off`."""
    once = bulging(tube_rig(), bending(frames))
    rows = [*range(frames), 0]
    shapes = np.stack([once.shapes[k] for k in rows])
    shapes[-1] += off * np.array([0.0, 0.0, 1.0])
    return ps.Examples.from_shapes(once.rig, ps.Motion(once.motion.rotations[rows]), shapes)


@pytest.mark.parametrize("frames", [10, 30])
@pytest.mark.parametrize("name", METHODS)
def test_a_loop_that_closes_is_fitted_without_a_word(name: str, frames: int) -> None:
    examples = loop(frames)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in (examples, carried(examples)):
            assert evaluate(METHODS[name].fit(each), examples).rel_err < 0.5


@pytest.mark.parametrize("name", METHODS)
def test_two_shapes_of_one_pose_are_warned_of(name: str) -> None:
    with pytest.warns(UserWarning, match="'0' and '30' show one pose, but their shapes differ by 0.01"):
        METHODS[name].fit(loop(30, 0.1))


@pytest.mark.parametrize("method", [ps.PSD(), ps.PSD("multiquadric")])
def test_two_shapes_of_one_pose_are_averaged(method: ps.PSD) -> None:
    examples = loop(10, 0.1)
    with pytest.warns(UserWarning, match="their mean is taken"):
        skin = method.fit(examples)
    mean = (np.asarray(examples.shapes[0]) + examples.shapes[10]) / 2
    np.testing.assert_allclose(skin.pose(examples.motion[0])[0], mean, atol=1e-4 * examples.rig.mesh.diagonal)
