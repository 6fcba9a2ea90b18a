"""How the benchmarks print the times of rivals that took turns."""

from __future__ import annotations

import argparse
import json
from typing import Any

from posespace.bench.timing import Timing, alternate
from posespace.cli.printing import markdown_table

__all__ = ["Timing", "alternate", "report", "show", "wants_json"]


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


def show(title: str, rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows under a title as a table, or as one line of JSON."""
    words = json.dumps({"title": title, "rows": rows}) if as_json else f"\n{title}\n{markdown_table(rows)}"
    print(words, flush=True)


def wants_json() -> bool:
    """Whether --json was given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line a table")
    return bool(parser.parse_args().json)
