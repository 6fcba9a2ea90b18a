"""Skins tampered with by someone who knows the format: each plays, or is refused with one line, in 2 s and 500 MB."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.fuzz import counts, tamper
from helpers.strategies import random_points_skin, random_skin

import posespace as ps


def arm(normals: str, bits: int) -> ps.Skin:
    train = ps.datasets.bending_arm(rings=8, sides=5)[0]
    return ps.EigenSkin(normals=normals, bits=bits).fit(train)


SKINS = {
    "random": lambda: random_skin(np.random.default_rng(0)),
    "flat": lambda: replace(random_skin(np.random.default_rng(3)), detail=None),
    "packed": lambda: replace(random_skin(np.random.default_rng(4)), detail=None).packed(8),
    "points": lambda: random_points_skin(np.random.default_rng(5)).packed(16),
    "eigenskin": lambda: arm("none", 32),
    "corrected": lambda: arm("separate", 16),
}


@counts(500, few=20)
@pytest.mark.parametrize("name", SKINS)
def test_tampered_skins_play_or_are_refused_in_one_line(tmp_path: Path, name: str, count: int) -> None:
    sample = tmp_path / f"{name}.skin"
    SKINS[name]().save(sample)
    outcome = tamper(sample, tmp_path, count)
    # Neither may make up the test: files that are refused at once, or that nothing is wrong with.
    assert outcome["used"] > count / 20
    assert len(set(outcome["lines"])) > count / 4
