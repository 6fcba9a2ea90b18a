"""Numba's `njit`, with a cache on disk where there is room for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function as `numba.njit` does, and keeps the result for the next start.

    Where nothing can be written, neither beside the source nor in the user's folder, each start compiles again.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:
            return numba.njit(**options)(function)

    return compiled
