"""The rigid motion of the whole is no pose: fits are the same with and without it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.clips import bending, bulging, carried, parted, tube_rig

import posespace as ps
from posespace.evaluation.score import evaluate
from posespace.skin.layer import Layer

SINGLE = {"eigenskin": 5e-6}
"""What single precision may change, as a fraction of plain skinning's error: EigenSkin's node values cancel, else 1e-8.

Pairs are left out: which of equally far poses become their nodes is decided by rounding.
"""

METHODS = {
    "psd": ps.PSD(),
    "psd of sculpts": ps.PSD("multiquadric"),
    "eigenskin": ps.EigenSkin(components=10, threshold=0.005, budget=None, coupling=False, bits=32),
    "muscles": ps.Muscles(bits=32),
}
SETS = {"arm": ps.datasets.bending_arm(rings=16, sides=8), "clip": parted(bulging(tube_rig(), bending()))}


def acting(layer: Layer) -> list[int]:
    """The vertices that a layer moves by more than rounding."""
    sizes = np.abs(np.asarray(layer.basis, dtype=np.float64)).max(axis=(0, 2))
    return layer.support[sizes > 1e-5 * sizes.max()].tolist()


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("name", METHODS)
def test_a_fit_does_not_depend_on_where_the_whole_is(name: str, data: str) -> None:
    train, unseen = SETS[data]
    still, moving = METHODS[name].fit(train), METHODS[name].fit(carried(train, 1))
    assert [layer.name for layer in moving.layers] == [layer.name for layer in still.layers]
    for one, other in zip(still.layers, moving.layers, strict=True):
        assert acting(one) == acting(other)
    error = evaluate(still, unseen).rel_err
    assert error < 0.5
    for skin, poses in ((moving, unseen), (still, carried(unseen, 2)), (moving, carried(unseen, 2))):
        assert evaluate(skin, poses).rel_err == pytest.approx(error, rel=1e-6, abs=SINGLE.get(name, 1e-6))
