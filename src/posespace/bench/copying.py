"""A copy on all cores: the limit that memory sets."""

from __future__ import annotations

from numba import prange

from posespace.check import Floats
from posespace.runtime.compiled import on_all_cores


@on_all_cores
def copy(source: Floats, target: Floats) -> None:  # pragma: no cover - compiled
    """Copy one array (N,) to another."""
    for k in prange(len(source)):
        target[k] = source[k]
