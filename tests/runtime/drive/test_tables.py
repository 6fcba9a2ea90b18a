"""The tables of drivers: what the compiled loops do not know is refused, and never played as something else."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import random_skin

import posespace as ps
from posespace.interpolate.kernels import KERNELS, TAILS
from posespace.poses.spaces import KINDS
from posespace.runtime.drive import tables


def changed(part: str, field: str, value: object) -> ps.Skin:
    """A skin whose first driver's space or interpolant has a field that no constructor would take."""
    skin = random_skin(np.random.default_rng(0))
    layer = skin.layers[0]
    thing = copy.copy(getattr(layer.driver, part))
    object.__setattr__(thing, field, value)
    driver = copy.copy(layer.driver)
    object.__setattr__(driver, part, thing)
    return replace(skin, layers=(replace(layer, driver=driver, normal_driver=None, normal_basis=None),), detail=None)


@pytest.mark.parametrize(
    ("part", "field", "name"),
    [
        ("interpolant", "kernel", "kernel"),
        ("interpolant", "tail", "tail"),
        ("interpolant", "metric", "metric"),
        ("space", "kind", "pose space kind"),
    ],
)
def test_what_the_loops_do_not_know_is_refused_in_one_line(part: str, field: str, name: str) -> None:
    with pytest.raises(ps.InputError, match=f"player: {name}: expected one of .*, got 'quintic'") as raised:
        changed(part, field, "quintic").compile()
    assert "\n" not in str(raised.value)


def test_another_interpolant_is_refused() -> None:
    skin = random_skin(np.random.default_rng(0))
    driver = copy.copy(skin.layers[0].driver)
    object.__setattr__(driver, "interpolant", lambda points: points)
    with pytest.raises(ps.InputError, match="expected an interpolant of RBF or Shepard, got function"):
        tables._require_known(driver)


def test_the_loops_know_all_that_the_library_fits() -> None:
    assert set(tables.KERNELS) == set(KERNELS)
    assert tables.TAILS == TAILS
    assert set(tables.JOINT_KINDS + tables.AXIS_KINDS) == set(KINDS)
