"""Driver blocks made by a grammar: each plays with finite numbers or is refused in one line, in 2 s and 500 MB."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.fuzz import counts, tamper
from helpers.strategies import random_skin

import posespace as ps


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A skin exported with all kinds of drivers, normals of its own and packed bases."""
    skin = random_skin(np.random.default_rng(1))
    path = tmp_path / "sample.glb"
    ps.export(ps.Skin(skin.rig, skin.layers), path, warn=lambda _: None)
    return path


@counts(2_000)
def test_driver_blocks_of_a_grammar_play_or_are_refused_in_one_line(sample: Path, tmp_path: Path, count: int) -> None:
    outcome = tamper(sample, tmp_path, count, "driver_grammar")
    # Neither may make up the test: blocks that are refused, or that nothing is wrong with.
    assert outcome["used"] > count / 10
    assert len(outcome["lines"]) > count / 4
    assert len(set(outcome["lines"])) > count / 20
