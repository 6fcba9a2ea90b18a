"""A few scripted sculpts on any rig: what each method makes of them at its own sculpts, and at poses far from them.

Errors are relative to plain skinning, where the truth is known: at the fit's own sculpts, between them, and up to twice
as far. The largest correction of a vertex is over the largest sculpted one of its neighbourhood: along the sculpts'
axis, off it, at random rotations, on the rig's clips, and in all cases of a fit with noise of 1e-8 in every input.
RMS is that of the corrections at poses without a truth, over that of the largest sculpt. Exits with 1 where a row is
worse than plain skinning at its own sculpts, or has a correction beyond the bound; such rows end in "fails".

Run: uv run python benchmarks/few_sculpts.py [--rig 'rocketbox*' ...] [--method PSD ...] [--sculpts 1 2 ...] [--kernels]
     [--points] [--summary] [--json] [--picture FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

from any_rig import METHODS
from rivals import DATA
from sculpting import pictures
from sculpting.judge import BOUND, WORSE, failed, judged
from sculpting.scripted import Script
from sculpting.subjects import Subject, offers

import posespace as ps
from posespace.errors import InputError
from posespace.interpolate.kernels import KERNELS
from posespace.rivals import Method

Row = dict[str, object]

SMALL, LARGE = 1e-4, 1e3
"""A figure below the one is shown as 0, above the other by its order."""

COUNTS = (1, 2, 3, 5)
SCRIPTS = {"1": (1, False), "2": (2, False), "1, rough": (1, True)}
"""How many joints are sculpted, and whether roughly."""

NAMES = ("rig", "method", "sculpts", "joints")
ALONG = ("own", "between", "far")
AWAY = ("off axis", "random", "clip")
ERRORS = (*ALONG, "noise")
COLUMNS = {
    **{f"error {case}": (f"error {case}",) for case in ERRORS},
    "largest along": tuple(f"largest {case}" for case in ALONG),
    **{f"largest {case}": (f"largest {case}",) for case in (*AWAY, "noise")},
    "RMS away": tuple(f"rms {case}" for case in AWAY),
}
"""The columns, and the figures of which each has the worst."""

SUMMARY = {
    "error own": ("error own", "error noise"),
    "error between": ("error between",),
    "error far": ("error far",),
    "largest": tuple(f"largest {case}" for case in (*ALONG, *AWAY)),
    "largest noise": ("largest noise",),
}
"""Likewise for a row per rig and method, narrow enough for a page."""

WITH_KERNELS: dict[str, Method] = {
    **{f"PSD, {kernel}": ps.PSD(kernel=kernel) for kernel in KERNELS},
    **{f"PSD per vertex, {kernel}": ps.PSD(kernel=kernel, per_vertex=True) for kernel in ("gaussian", "exponential")},
    **{f"EigenSkin, {kernel}": ps.EigenSkin(kernel=kernel) for kernel in KERNELS},
}

POINTS: dict[str, Method] = {"ControlPoints": ps.ControlPoints()}
"""They learn from the shapes alone, whatever the joints are, and each fit takes seconds."""


def rows_of(subject: Subject, methods: dict[str, Method], counts: Iterable[int]) -> Iterator[Row]:
    """Fit and judge every method on every script of a rig."""
    for title, method in methods.items():
        for count in counts:
            for joints, (number, rough) in SCRIPTS.items():
                row = {"rig": subject.name, "method": title, "sculpts": count, "joints": joints}
                yield {**row, **figures(method, Script(subject, count, number, rough))}


def figures(method: Method, script: Script) -> Row:
    """Return the figures of one fit, or why there are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measured = judged(method, script)
    except InputError as error:
        return {"refused": " ".join(str(error).split()), "fails": False}
    except Exception as error:  # a fit that breaks is a finding too, and the other rows are still wanted
        return {"broke": " ".join(f"{type(error).__name__}: {error}".split()), "fails": True}
    return {**measured, "fails": failed(measured)}


def summed_up(rows: Iterable[Row]) -> Iterator[Row]:
    """Return a row for each rig and method: the worst of each figure, and how many rows fail."""
    for (rig, method), group in groupby(rows, lambda row: (row["rig"], row["method"])):
        members = list(group)
        keys = dict.fromkeys(key for row in members for key, value in row.items() if isinstance(value, float))
        worst = {key: max(float(str(row[key])) for row in members if key in row) for key in keys}
        refused, failing = (sum(bool(row.get(key)) for row in members) for key in ("refused", "fails"))
        yield {"rig": rig, "method": method, "fits": len(members), "refused": refused, "failed": failing, **worst}


def shown(rows: Iterable[Row], as_json: bool, summary: bool) -> int:
    """Print each row as soon as it is there, and return how many fits fail."""
    if not as_json:
        titles = ("rig", "method", *SUMMARY, "failed") if summary else (*NAMES, *COLUMNS, "fails")
        print(f"| {' | '.join(titles)} |\n" + "|---" * len(titles) + "|", flush=True)
    failing = 0
    for row in rows:
        print(json.dumps(row) if as_json else f"| {' | '.join(cells(row, summary))} |", flush=True)
        failing += int(str(row["failed"])) if summary else bool(row["fails"])
    return failing


def cells(row: Row, summary: bool) -> list[str]:
    """Return the texts of a row."""
    texts = [str(row[name]) for name in NAMES if name in row]
    for keys in (SUMMARY if summary else COLUMNS).values():
        values = [float(str(row[key])) for key in keys if key in row]
        texts.append(short(max(values)) if values else "")
    if summary:
        return [*texts, f"{row['failed']} of {row['fits']}"]
    return [*texts, str(row.get("broke", row.get("refused", "fails" if row["fails"] else "")))]


def short(value: float) -> str:
    """Return a figure as text."""
    return "0" if value < SMALL else f"{value:.3g}" if value < LARGE else f"{value:.0e}"


def chosen(names: Iterable[str], patterns: Iterable[str], what: str) -> list[str]:
    """Return the names that match a pattern; raises where one matches none."""
    every = list(names)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in every):
            sys.exit(f"--{what} {pattern}: expected one of {', '.join(every)}")
    return [name for name in every if any(fnmatchcase(name, pattern) for pattern in patterns)]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rig", nargs="+", metavar="NAME", default=["*"], help="names of rigs, * for any ending")
    parser.add_argument("--method", nargs="+", metavar="NAME", default=["*"], help="names of methods, likewise")
    parser.add_argument("--sculpts", nargs="+", type=int, default=COUNTS, help="how many; default: 1 2 3 5")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--kernels", action="store_true", help="PSD and EigenSkin with each kernel, not the defaults")
    kinds.add_argument("--points", action="store_true", help="control points, not the methods that follow joints")
    parser.add_argument("--summary", action="store_true", help="one row per rig and method, with the worst figures")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line per row")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSESPACE_DATA", DATA)))
    parser.add_argument("--picture", type=Path, metavar="FOLDER", help="save pages of pictures, and print no figures")
    return parser.parse_args()


def main() -> None:
    given = parsed()
    methods = WITH_KERNELS if given.kernels else POINTS if given.points else METHODS
    methods = {name: methods[name] for name in chosen(methods, given.method, "method")}
    rigs = dict(offers(given.data))
    names = chosen(rigs, given.rig, "rig")
    if given.picture:
        for name in names:
            print(*pictures.draw(given.picture, rigs[name](), methods), sep="\n", flush=True)
        return
    rows: Iterable[Row] = (row for name in names for row in rows_of(rigs[name](), methods, given.sculpts))
    failing = shown(summed_up(rows) if given.summary else rows, given.json, given.summary)
    if failing:
        worse = f"above {WORSE} of plain skinning at their own sculpts"
        sys.exit(f"{failing} fits fail: {worse}, or a correction above {BOUND} times the sculpted one")


if __name__ == "__main__":
    main()
