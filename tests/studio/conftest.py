"""A small project on disk: the bent arm with its rest shape and one sculpt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.browsing import GRAPHICS, opened_chromium

import posespace as ps
from posespace.fit.psd.sculpts import Sculpts


@pytest.fixture
def store(tmp_path: Path) -> Path:
    examples, _ = ps.datasets.bending_arm(rings=14, sides=9)
    rig = examples.rig
    path = tmp_path / "arm.examples"
    rest = ps.Motion.from_poses([rig.rest], ["rest"])
    ps.Examples.from_shapes(rig, rest, rig.mesh.points[None]).save(path)
    # The example that bends most.
    index = int(np.argmax([np.abs(pose.rotations - rig.rest.rotations).max() for pose, _ in examples]))
    pose, shape = examples[index]
    Sculpts.open(path).add("bent", pose, np.asarray(shape))
    return path


@pytest.fixture(scope="module")
def chromium(browser: str) -> Iterator[Any]:
    with opened_chromium(browser, *GRAPHICS) as chromium:
        yield chromium
