"""How the loops are compiled: without Python's lock or checks, and cached on disk, so that a second start is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from posespace.jit import njit

Ints32 = NDArray[np.int32]
Ints64 = NDArray[np.int64]

Function = TypeVar("Function", bound=Callable[..., Any])

_FAST = {"contract", "reassoc"}


def _load_numba() -> None:
    """Import the part of numba that looks for SciPy's BLAS, which takes a sixth of a start, as if BLAS were loaded.

    Numba only notes that it is there. It is, as SciPy is required, and numba loads it where a compiled function
    multiplies matrices; no loop of the players does.
    """
    name = "scipy.linalg.cython_blas"
    if name in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[name] = ModuleType(name)
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules[name]


_load_numba()


def compiled(function: Function) -> Function:
    """Compile a function."""
    return njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def relaxed(function: Function) -> Function:
    """Compile a function whose sums may be regrouped and fused, so that they can be vectorised."""
    return njit(nogil=True, error_model="numpy", fastmath=_FAST)(function)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a function as `relaxed` does, into each function that calls it.

    LLVM inlines it. Numba can too (`inline="always"`), but then types its body again in every caller: compiling
    takes twice as long.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": _FAST, "forceinline": True}
    return njit(**options)(function)  # type: ignore[no-any-return]


def inlined_exactly(function: Function) -> Function:
    """Compile a function as `inlined` does, but round every product: so the products that should cancel do.

    Where nothing is said about it, numba relaxes a function that is called from a relaxed one, too.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": True}
    return njit(**options)(function)  # type: ignore[no-any-return]


def on_all_cores(function: Function) -> Function:
    """Compile a function whose `prange` loops run on all cores.

    The same function may be compiled for one core too, and the cache on disk goes by name: so it gets another name.
    """
    name = f"{function.__name__}_on_all_cores"
    other = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    other.__qualname__ = name
    return njit(nogil=True, error_model="numpy", parallel=True)(other)  # type: ignore[no-any-return]
