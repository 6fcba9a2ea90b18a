"""The error of every method on poses its fit did not see, on two sets of examples. A method that loses is shown losing.

Run: uv run python benchmarks/rivals.py [--json] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from sets.mesh_sequences import BLOCK, blocks

import posespace as ps
from posespace.errors import InputError
from posespace.rivals import Method, rivals
from posespace.rivals.plain_psd import PlainPSD

DATA = Path(__file__).parents[2] / "shared" / "data"


def methods(smoothing: float) -> dict[str, Method]:
    """The rivals and the methods of the library: add a line for a new one."""
    return {
        **rivals(smoothing),
        "plain PSD, thin plate": PlainPSD("thin_plate", smoothing=smoothing),
        "PSD": ps.PSD(smoothing=smoothing),
        "EigenSkin, 5 components": ps.EigenSkin(5),
        "EigenSkin, 10 components, no budget": ps.EigenSkin(10, budget=None),
        "muscles, 10 signals per bone": ps.Muscles(10, segments=True),
        "EigenSkin, 5 components, optimised weights": ps.EigenSkin(5, weights="optimised"),
    }


def hand() -> tuple[str, ps.Examples, ps.Examples, float]:
    """One degree of freedom at a time to fit on, all joints at once to evaluate on."""
    return "hand: fitted on single joints, evaluated on 25 random poses", *ps.datasets.hand(), 0.0


def frames(data: Path) -> tuple[str, ps.Examples, ps.Examples, float]:
    """The mesh sequence of dem-bones in blocks of frames: odd ones to fit on, even ones to evaluate on."""
    _, train, unseen, _ = blocks(data)
    title = f"dem-bones: blocks of {BLOCK} frames, 1st, 3rd, ... fitted, 2nd, 4th, ... evaluated; smoothing 0.001"
    return title, train, unseen, 1e-3


def table(train: ps.Examples, unseen: ps.Examples, smoothing: float) -> list[dict[str, object]]:
    """Fit and evaluate each method."""
    rows: list[dict[str, object]] = []
    for name, method in methods(smoothing).items():
        start = time.perf_counter()
        try:
            skin = method.fit(train)
        except InputError as error:
            rows.append({"method": name, "failed": str(error)})
            continue
        seconds = time.perf_counter() - start
        figures = ps.evaluate(skin, unseen).figures()
        figures = {key: value for key, value in figures.items() if not key.startswith("per_")}
        rows.append({"method": name, **figures, "fit seconds": round(seconds, 1)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line a table")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSESPACE_DATA", DATA)))
    given = parser.parse_args()
    sets = [hand()]
    if (given.data / "meshseq-dembones").is_dir():
        sets.append(frames(given.data))
    for title, train, unseen, smoothing in sets:
        rows = table(train, unseen, smoothing)
        if given.json:
            print(json.dumps({"title": title, "rows": rows}))
            continue
        print(
            f"\n{title}\n| method | rel_err | rms | e_rms | largest | 95 % | normals | bytes per vertex |\n"
            + "|---" * 8
            + "|"
        )
        for row in rows:
            if "failed" in row:
                print(f"| {row['method']} | fails: {row['failed']} |" + " |" * 6)
                continue
            keys = ("rel_err", "rms", "e_rms", "max_error", "p95_error", "normal_degrees", "bytes_per_vertex")
            print(f"| {row['method']} | " + " | ".join(f"{row[key]:.4g}" for key in keys) + " |")


if __name__ == "__main__":
    main()
