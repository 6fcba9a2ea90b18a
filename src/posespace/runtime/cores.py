"""Several cores: whether compiled loops may use them here, the lock they share, and what a fork does to them."""

from __future__ import annotations

import os
import warnings
from threading import Event, Lock
from typing import Protocol
from weakref import WeakSet

import numba
from numba import prange

from posespace.runtime.compiled import on_all_cores

PARALLEL = Lock()
"""Held by whoever runs a loop on several cores: not every parallel layer of numba can serve two threads at once."""


class Forked(Protocol):
    """What must be called when its process was forked."""

    def after_fork(self, one_core: bool) -> None:
        """Go on in the forked process, on one core where several cannot be used any more."""


_watched: WeakSet[Forked] = WeakSet()
_lost = Event()


def watch(player: Forked) -> None:
    """Call a player after every fork, as long as it lives."""
    _watched.add(player)


@on_all_cores
def _sum_of(count: int) -> float:  # pragma: no cover - compiled
    total = 0.0
    for k in prange(count):
        total += k
    return total


def cores_work() -> bool:
    """Whether numba can run a loop on several cores here; without its parallel layer one core does the work."""
    if _lost.is_set():
        _warn("this process was forked from one that had several at work")
        return False
    try:
        with PARALLEL:
            return bool(_sum_of(4) == 6.0)
    except (ValueError, RuntimeError, ImportError) as error:
        _warn(str(error).splitlines()[0])
        return False


def _warn(why: str) -> None:
    warnings.warn(f"one core is used: {why}", stacklevel=5)


def _started() -> bool:
    """Whether a loop has run on several cores: its threads are not in a forked process, where OpenMP would end it."""
    try:
        return bool(numba.threading_layer())  # type: ignore[attr-defined]
    except ValueError:
        return False


def _after_fork() -> None:
    if _started():
        _lost.set()
    for player in list(_watched):
        player.after_fork(_lost.is_set())


os.register_at_fork(after_in_child=_after_fork)
