"""Ratios on a noisy machine: the rivals take turns, and the median and spread of their times are compared."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Timing:
    """Seconds of each rival: the median over the rounds, and the quarter and three-quarter points."""

    median: float
    low: float
    high: float


def take_turns(rivals: dict[str, Callable[[], Any]], rounds: int = 15) -> dict[str, Timing]:
    """Call each rival once a round, in turn, after one call to warm up."""
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for call in rivals.values():
        call()
    for _ in range(rounds):
        for name, call in rivals.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    quarters = {name: np.percentile(taken, [50, 25, 75]) for name, taken in times.items()}
    return {name: Timing(*map(float, points)) for name, points in quarters.items()}


def report(title: str, timings: dict[str, Timing], against: str, as_json: bool) -> None:
    """Print each rival's time and its ratio to `against`."""
    base = timings[against].median
    rows = {
        name: {
            "ms": round(1e3 * timing.median, 4),
            "spread_ms": [round(1e3 * timing.low, 4), round(1e3 * timing.high, 4)],
            f"times {against}": round(timing.median / base, 3),
        }
        for name, timing in timings.items()
    }
    if as_json:
        print(json.dumps({"title": title, "rivals": rows}))
        return
    print(title)
    for name, row in rows.items():
        low, high = row["spread_ms"]  # type: ignore[misc]
        ratio = timings[name].median / base
        print(f"  {name:34s} {row['ms']:10.3f} ms  ({low:.3f} to {high:.3f})  {ratio:8.2f} x {against}")


def wants_json() -> bool:
    """Whether --json was given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line a table")
    return bool(parser.parse_args().json)
