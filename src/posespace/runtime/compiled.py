"""How the loops are compiled: without Python's lock or checks, and cached on disk, so that a second start is quick."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numba.core.errors import NumbaPedanticWarning
from numpy.typing import NDArray

from posespace.jit import njit

# Numba warns about its own code where it inlines one function's loops into another.
warnings.filterwarnings("ignore", category=NumbaPedanticWarning)

Ints32 = NDArray[np.int32]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function."""
    return njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def relaxed(function: Function) -> Function:
    """Compile a function whose sums may be regrouped and fused, so that they can be vectorised."""
    fast = {"contract", "reassoc"}
    return njit(nogil=True, error_model="numpy", fastmath=fast)(function)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a function into each function that calls it."""
    return njit(nogil=True, error_model="numpy", inline="always")(function)  # type: ignore[no-any-return]


def on_all_cores(function: Function) -> Function:
    """Compile a function whose `prange` loops run on all cores.

    The same function may be compiled for one core too, and the cache on disk goes by name: so it gets another name.
    """
    name = f"{function.__name__}_on_all_cores"
    other = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    other.__qualname__ = name
    return njit(nogil=True, error_model="numpy", parallel=True)(other)  # type: ignore[no-any-return]
