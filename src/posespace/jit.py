"""Numba's `njit`, with a cache on disk where there is room for one.

Numba compiles callees into their callers, but holds a cached function to be fresh as long as its own file is unchanged.
Here it is fresh as long as the files and the constants of all that it may call are.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function as `numba.njit` does, and keeps the result for the next start.

    Where nothing can be written, neither beside the source nor in the user's folder, each start compiles again.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            dispatcher = numba.njit(cache=True, **options)(function)
        except RuntimeError:
            return numba.njit(**options)(function)
        _stamp(dispatcher, function.__module__)
        return dispatcher

    return compiled


def _stamp(dispatcher: Any, module: str) -> None:
    """Add the sources of a compiled function's module to what numba compares before it takes the function from disk.

    These names are numba's own; where they are missing, the cache is as numba made it.
    """
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, _digest_of_sources(module))


@cache
def _digest_of_sources(module: str) -> str:
    """Return a digest of the sources that the compiled functions of a module come from.

    Called at the first of these functions, when all that the module imports is there.
    """
    digest = hashlib.sha256()
    for name in sorted(_sources(module, set())):
        digest.update(f"{name} {_digest_of_file(name)} {_constants(name)}\n".encode())
    return digest.hexdigest()


def _sources(module: str, seen: set[str]) -> set[str]:
    """Return a module and, by way of what it imports, all others with compiled functions; `seen` is added to."""
    seen.add(module)
    for _, value in _globals(module):
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name not in seen and not isinstance(value, type) and _compiles(name):
            _sources(name, seen)
    return seen


@cache
def _compiles(module: str) -> bool:
    """Whether a module has or makes functions for compiled code: by `njit` from here, or by numba."""
    if module == __name__:
        return True
    if module.partition(".")[0] == "numba":
        return False
    return any(
        getattr(value, "__module__", None) == __name__ or type(value).__module__.startswith("numba.")
        for _, value in _globals(module)
    )


def _globals(module: str) -> Iterator[tuple[str, Any]]:
    names = vars(sys.modules[module]) if module in sys.modules else {}
    return ((name, value) for name, value in list(names.items()) if not name.startswith("__"))


def _constants(module: str) -> list[tuple[str, Any]]:
    """Return numbers and fields of named tuples in a module: compiled code holds them, whichever file they are from."""
    constants = []
    for name, value in _globals(module):
        if isinstance(value, (int, float)):
            constants.append((name, value))
        elif isinstance(value, type) and hasattr(value, "_fields"):
            constants.append((name, value._fields))
    return sorted(constants)


@cache
def _digest_of_file(module: str) -> str:
    path = getattr(sys.modules.get(module), "__file__", None)
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else ""
    except OSError:
        return ""
