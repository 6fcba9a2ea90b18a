"""Budgets: what a file may ask for grows with its bytes, and what goes beyond is refused in one line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.floods import columns, drivers, empty_poses, foreign_matrices, layers, many_controls, shared_clock
from helpers.gltf_files import refused

import posespace as ps
from posespace.budget import NUMBERS, STEPS, Budget, Limit
from posespace.formats import pose_json

DOCS = Path(__file__).parents[1] / "docs" / "files.md"


def test_a_limit_grows_with_the_bytes() -> None:
    assert Limit(10).of(10**9) == 10
    assert Limit(10, 4).of(40) == 20
    assert Limit(10, 1 / 8).of(2) == 26


def test_what_was_asked_for_adds_up_until_it_is_refused() -> None:
    budget = Budget(0, "take")
    budget.hold(NUMBERS.any_file - 1, "frames")
    budget.hold(1, "frames")
    with pytest.raises(ps.InputError, match="frames: asks for more numbers than a take of this size can need; trim it"):
        budget.hold(1, "frames", "trim it")
    budget.work(STEPS.any_file, "gaps")
    with pytest.raises(ps.InputError, match="holds more gaps than a take of this size can need; trim it"):
        budget.work(1, "gaps", "trim it")
    budget.grow(1_280)
    budget.work(8, "gaps")
    assert budget.steps == 1


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (drivers, "POSESPACE_drivers: driver .*: asks for more numbers than a file of this size can need"),
        (columns, "POSESPACE_drivers: layer .*: asks for more numbers than a file of this size can need"),
        (layers, "holds more layers than a file of this size can need"),
    ],
)
def test_a_skin_in_gltf_may_not_ask_for_much_by_sharing_numbers(tmp_path: Path, make: object, line: str) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    with pytest.raises(ps.FileError, match=line) as caught:
        ps.Skin.load(path)
    assert str(caught.value).startswith(str(path))


def test_channels_that_share_their_times_do_not_count_them_again(tmp_path: Path) -> None:
    few = shared_clock(tmp_path, channels=3, keys=50)
    assert len(ps.clips(few)) == 1
    assert "asks for more numbers" in refused(shared_clock(tmp_path))


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (
            lambda folder: empty_poses(folder, 20_000),
            "20000 poses of 60 joints: asks for more numbers .* choose some of its poses by name",
        ),
        (many_controls, "12000 poses of 12000 controls: asks for more numbers"),
        (foreign_matrices, "holds more matrices than a file of this size can need; split it into several files"),
    ],
)
def test_pose_files_may_not_ask_for_more_than_their_size_explains(tmp_path: Path, make: object, line: str) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    names, rest = [f"joint{k}" for k in range(60)], np.tile(np.eye(4), (60, 1, 1))
    skeleton = ps.Skeleton.from_world(names, list(range(-1, 59)), rest)
    with pytest.raises(ps.FileError, match=line):
        pose_json.read(path).motion(skeleton)


def test_the_page_states_the_limits() -> None:
    page = re.sub(r"\s+", " ", DOCS.read_text())
    assert f"{NUMBERS.any_file // 10**6} million numbers" in page
    assert f"{STEPS.any_file:,} steps" in page
