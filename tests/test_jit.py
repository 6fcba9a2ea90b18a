"""Compiled functions work where nothing can be kept on disk."""

from __future__ import annotations

from typing import Any

from posespace.jit import njit


def test_a_function_that_cannot_be_cached_is_compiled_all_the_same() -> None:
    made: dict[str, Any] = {}
    exec("def more(x): return x + 1", made)
    assert njit()(made["more"])(1) == 2
