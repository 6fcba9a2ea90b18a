"""Driver blocks made by a grammar: each plays with finite numbers or is refused in one line, in 2 s and 500 MB."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.fuzz import counts, tamper
from helpers.strategies import random_points_skin, random_skin

import posespace as ps


def joints_alone() -> ps.Skin:
    """A skin with all kinds of drivers, normals of its own and packed bases."""
    skin = random_skin(np.random.default_rng(1))
    return ps.Skin(skin.rig, skin.layers)


def learned_bones() -> ps.Skin:
    """A skin of control points with corrections, a layer and detail."""
    return random_points_skin(np.random.default_rng(1))


@pytest.mark.parametrize("make", [joints_alone, learned_bones])
@counts(2_000)
def test_driver_blocks_of_a_grammar_play_or_are_refused_in_one_line(
    make: Callable[[], ps.Skin], tmp_path: Path, count: int
) -> None:
    sample = tmp_path / "sample.glb"
    ps.export(make(), sample, warn=lambda _: None)
    outcome = tamper(sample, tmp_path, count, "driver_grammar")
    # Neither may make up the test: blocks that are refused, or that nothing is wrong with.
    assert outcome["used"] > count / 10
    assert len(outcome["lines"]) > count / 4
    assert len(set(outcome["lines"])) > count / 20
