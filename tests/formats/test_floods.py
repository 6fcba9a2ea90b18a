"""Small files that ask for much derived work: each is used or refused with one line, in 2 s and 500 MB."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.floods import FLOODS, empty_poses
from helpers.fuzz import flood


@pytest.mark.slow
def test_floods_are_used_or_refused_in_one_line(tmp_path: Path) -> None:
    found = flood(empty_poses(tmp_path, 3), tmp_path, len(FLOODS))
    assert len(found["lines"]) > len(FLOODS) / 2
