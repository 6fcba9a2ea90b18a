"""Compiled functions work where nothing can be kept on disk, and never run code that was inlined from an older file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from posespace.jit import njit

_CALLEE = """\
from posespace.jit import njit

@njit(forceinline=True)
def factor(x):
    return 2 * x
"""
_LIMIT = "LIMIT = 100\n"
_BETWEEN = """\
from posespace.jit import njit
from family.callee import factor
from family.limit import LIMIT

@njit()
def clipped(x):
    return min(factor(x), LIMIT)
"""
_CALLER = """\
from posespace.jit import njit
from family.between import clipped

@njit()
def answer(x):
    return clipped(x) + 1
"""
_ASK = """\
from family.caller import answer
print(answer(21), sum(answer.stats.cache_hits.values()))
"""


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A package whose `caller` calls `between`, which calls `callee`."""
    folder = tmp_path / "family"
    folder.mkdir()
    texts = {"__init__": "", "callee": _CALLEE, "limit": _LIMIT, "between": _BETWEEN, "caller": _CALLER}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def _ask(family: Path) -> tuple[int, int]:
    """Return the caller's answer in a process of its own, and how often it was taken from the cache."""
    # Without Python's own cache, which goes by seconds and sizes: the files change within the same second.
    command = [sys.executable, "-B", "-c", _ASK]
    run = subprocess.run(command, cwd=family.parent, check=True, capture_output=True, text=True)
    answer, hits = run.stdout.split()
    return int(answer), int(hits)


def test_a_function_that_cannot_be_cached_is_compiled_all_the_same() -> None:
    made: dict[str, Any] = {}
    exec("def more(x): return x + 1", made)
    assert njit()(made["more"])(1) == 2


def test_a_function_comes_from_the_cache_until_a_function_that_it_inlines_changes(family: Path) -> None:
    assert _ask(family) == (43, 0)
    assert _ask(family) == (43, 1)
    (family / "callee.py").write_text(_CALLEE.replace("2 * x", "3 * x"))
    assert _ask(family) == (64, 0)
    assert _ask(family) == (64, 1)


def test_a_constant_of_another_file_is_not_taken_from_the_cache(family: Path) -> None:
    assert _ask(family) == (43, 0)
    (family / "limit.py").write_text("LIMIT = 10\n")
    assert _ask(family) == (11, 0)


def test_a_file_without_compiled_functions_leaves_the_cache_fresh(family: Path) -> None:
    assert _ask(family) == (43, 0)
    (family / "limit.py").write_text("'''Limits.'''\nLIMIT = 100\n")
    assert _ask(family) == (43, 1)
