"""How the loops are compiled: without Python's lock or checks, and kept on disk, so that a second start is quick."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from numba import njit
from numba.core.errors import NumbaPedanticWarning

# Numba's check of its own code, where loops of one function are put into another.
warnings.filterwarnings("ignore", category=NumbaPedanticWarning)

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function."""
    return njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[return-value]


def uncounted(function: Function) -> Function:
    """Compile a function that makes no arrays: it counts no references, which costs a short loop more than its work."""
    options: Any = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
    options["fastmath"] = {"contract", "reassoc"}
    return njit(**options)(function)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a function into each function that calls it."""
    return njit(cache=True, nogil=True, error_model="numpy", inline="always")(function)  # type: ignore[return-value]


def on_all_cores(function: Function) -> Function:
    """Compile a function whose `prange` loops run on all cores.

    The same function may be compiled for one core too, and what is kept on disk goes by name: so it gets another.
    """
    name = f"{function.__name__}_on_all_cores"
    other = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    other.__qualname__ = name
    return njit(cache=True, nogil=True, error_model="numpy", parallel=True)(other)  # type: ignore[return-value]
