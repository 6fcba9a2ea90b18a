"""Ratios on a noisy machine: rivals are timed alternately, and the medians and spreads of their times are compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Timing:
    """Seconds of a rival: the median over the rounds, and the first and third quartiles."""

    median: float
    low: float
    high: float

    def of_one(self, count: int) -> Timing:
        """Return the time of one of the `count` things that a call did."""
        return Timing(self.median / count, self.low / count, self.high / count)


def alternate(
    rivals: Mapping[str, Callable[[], Any]],
    rounds: int = 15,
    calls: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Time rivals alternately, each `calls` times per round, after one call to warm up; seconds are per call.

    On a machine that others use too, the `clock` can be that of the processor: `time.process_time`.
    """
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for call in rivals.values():
        call()
    for _ in range(rounds):
        for name, call in rivals.items():
            start = clock()
            for _ in range(calls):
                call()
            times[name].append((clock() - start) / calls)
    quarters = {name: np.percentile(seconds, [50, 25, 75]) for name, seconds in times.items()}
    return {name: Timing(*map(float, points)) for name, points in quarters.items()}
