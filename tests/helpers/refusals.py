"""What a refused file must give: one line that names it, without asking for much memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from posespace.errors import FileError


def assert_refused(read: Callable[[], object], path: Path, problem: str) -> None:
    """Hold that reading raises one line, starting with the path, that says `problem`, within 20 MB."""
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=problem) as caught:
            read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert peak < 20e6


def assert_read_or_one_line(read: Callable[[], object]) -> None:
    """Hold that a file is read, or that the error is one line."""
    try:
        read()
    except FileError as error:
        assert "\n" not in str(error)
