"""Driver blocks made by a grammar: each plays with finite numbers or is refused in one line, in 2 s and 500 MB."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.fuzz import tamper
from helpers.strategies import random_skin

import posespace as ps

COUNT = 2_000


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A skin exported with all kinds of drivers, normals of its own and packed bases."""
    skin = random_skin(np.random.default_rng(1))
    path = tmp_path / "sample.glb"
    ps.export(ps.Skin(skin.rig, skin.layers), path, warn=lambda _: None)
    return path


@pytest.mark.slow
def test_driver_blocks_of_a_grammar_play_or_are_refused_in_one_line(sample: Path, tmp_path: Path) -> None:
    found = tamper(sample, tmp_path, COUNT, "driver_grammar")
    # Neither may make up the test: blocks that are refused, or that nothing is wrong with.
    assert found["used"] > COUNT / 10
    assert len(found["lines"]) > COUNT / 4
    assert len(set(found["lines"])) > COUNT / 20
