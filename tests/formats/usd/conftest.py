"""What every USD test may ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.usd_files import reader_in

from posespace.formats.contents import Contents


@pytest.fixture
def parse(tmp_path: Path) -> Callable[..., Contents]:
    return reader_in(tmp_path)
