"""The goals of the compiled player, and what this machine measures; `posespace bench` prints the tables in full.

Run: uv run python benchmarks/playback.py [--json], on an idle machine
"""

from __future__ import annotations

import json
from typing import Any

from timing import wants_json

from posespace.bench.tables import TABLES
from posespace.cli.printing import markdown_table
from posespace.progress import track

Rows = list[dict[str, Any]]


def main() -> None:
    as_json = wants_json()
    names = [name for name in TABLES if name != "growth"]
    found = {name: TABLES[name]() for name in track(names, "measuring")}
    rows = goals(found)
    if as_json:
        print(json.dumps({"goals": rows, "tables": found}))
        return
    print(markdown_table(rows))


def goals(found: dict[str, Rows]) -> Rows:
    """Return each goal with the measured figure."""
    rows = []
    for name, size in (("skinning", "28k"), ("skinning-million", "1M")):
        for peer, least in (("UsdSkel", 2), ("NumPy", 10), ("igl", None)):
            ratio = _ratio(found[name], peer, "ratio")
            want = f"at least {least} times as fast" if least else "-"
            rows.append(_line(f"plain skinning against {peer}, {size}", want, f"{ratio:.1f} times as fast"))
    large = found["corrections-million"]
    for title, key, most in (("EigenSkin hand", "EigenSkin", "1.35"), ("ten full entries", "ten full", "1.7")):
        measured = _both(found, "corrections", key, "ratio")
        rows.append(_line(f"{title} against plain skinning, 28k", f"at most {most}", measured))
    ratio, bytes_ratio = (_ratio(large, "EigenSkin", key) for key in ("ratio", "bytes_per_frame_ratio"))
    rows.append(_line("EigenSkin hand against plain skinning, 1M", f"at most {bytes_ratio} (bytes)", f"{ratio:.2f}"))
    measured = _both(found, "normals", "corrected", "ratio")
    rows.append(_line("with normals and their corrections", "at most 1.8", measured))
    for key in ("plain skinning", "EigenSkin"):
        speed = _ratio(found["memory"], key, "of_memory_copy")
        rows.append(_line(f"bytes per second at 1M, {key}", "at least 0.5 of memory copy", f"{speed:.2f}"))
    drive, both = (_ratio(found["drive"], key, "microseconds") for key in ("drive", "points and normals"))
    points = _ratio(found["drive"], "points", "microseconds")
    measured = f"{100 * drive / points:.1f} % of points, {100 * drive / both:.1f} % of points and normals"
    rows.append(_line("drive, 20 joints of 5 components and 7 samples", "under 5 % of a frame", measured))
    ratio = _ratio(found["batch"], "a batch", "ratio")
    peaks = [row["peak_mb"] for row in found["batch"] if "a batch" in row["what"]]
    rows.append(
        _line("batch of 1,000 poses", "at most 1 per pose, memory flat", f"{ratio:.2f}; {peaks[0]} MB, {peaks[1]} MB")
    )
    rows.append(_line("process start to first frame", "under 1.5 s", f"{found['start'][0]['then']} s"))
    return rows


def _line(what: str, want: str, measured: str) -> dict[str, str]:
    return {"what": what, "goal": want, "measured": measured}


def _both(found: dict[str, Rows], table: str, key: str, column: str) -> str:
    """A ratio on one core and on all."""
    one, all_cores = (_ratio(found[name], key, column) for name in (table, f"{table}-cores"))
    return f"{one:.2f} on one core, {all_cores:.2f} on all"


def _ratio(rows: Rows, key: str, column: str) -> float:
    """The figure of the first row whose title has a word."""
    return float(next(row for row in rows if key in row["what"])[column])


if __name__ == "__main__":
    main()
