"""What cannot be learned is not: on shapes that do not depend on the pose no fit is worse than plain skinning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers.clips import bending, bulging, parted, shifting, tube_rig

import posespace as ps
from posespace.evaluation.score import evaluate

METHODS = {"psd": ps.PSD(), "eigenskin": ps.EigenSkin(), "muscles": ps.Muscles()}
RIG = tube_rig()


def noise(motion: ps.Motion, seed: int) -> ps.Examples:
    """Shapes whose vertices are off by chance."""
    rng = np.random.default_rng(seed)
    off = 0.05 * rng.normal(size=(len(motion), *RIG.mesh.points.shape))
    return ps.Examples.from_shapes(RIG, motion, [RIG.skin(pose, more) for pose, more in zip(motion, off, strict=True)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", METHODS)
def test_noise_is_not_learned(name: str, seed: int) -> None:
    train, unseen = parted(noise(bending(40, seed), seed))
    assert len(train) >= 24
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "muscles: no signals help")
        assert evaluate(METHODS[name].fit(train), unseen).rel_err < 1.02


def test_muscles_say_where_they_learned_nothing() -> None:
    train, _ = parted(noise(bending(40), 0))
    with pytest.warns(UserWarning, match="no signals help on held-out frames"):
        assert ps.Muscles().fit(train).layers == ()


@pytest.mark.parametrize("name", METHODS)
def test_joints_that_only_shift_are_learned_from(name: str) -> None:
    train, unseen = parted(bulging(RIG, shifting(48)))
    skin = METHODS[name].fit(train)
    assert all(space.endswith(("tx", "ty", "tz")) for layer in skin.layers for space in layer.driver.space.names)
    assert evaluate(skin, unseen).rel_err < 0.7
    assert evaluate(skin, train).rel_err < 0.2
