"""Every method with its defaults on any rig and any clip at hand: the error on unseen poses, bytes, seconds.

Run: uv run python benchmarks/any_rig.py [--list] [--only 'knight, Walking*' ...] [--cache FOLDER] [--bones] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from rivals import DATA
from sets import DataSet, every, plain_error, seen_before

import posespace as ps
from posespace.errors import InputError
from posespace.rivals import Method

Row = dict[str, object]

METHODS: dict[str, Method] = {"PSD": ps.PSD(), "EigenSkin": ps.EigenSkin(), "Muscles": ps.Muscles()}

BONES: dict[str, Method] = {
    f"Muscles, bones {kind or 'chosen'}": ps.Muscles(bones=kind) for kind in (None, "nearest", "weights")
}

LISTED = ("set", "vertices", "joints", "train poses", "unseen poses", "of them seen", "plain RMS / diagonal", "split")
FITTED = ("set", "method", "rel_err", "bytes per vertex", "fit seconds")


def listed(sets: Iterable[DataSet]) -> Iterator[Row]:
    """What each data set is, and how far plain skinning is off on its unseen poses."""
    for name, train, unseen, split in sets:
        sizes = (len(train.rig.mesh.points), len(train.rig.skeleton), len(train), len(unseen))
        seen = seen_before(train, unseen)
        yield dict(zip(LISTED, (name, *sizes, seen, round(plain_error(unseen), 5), split), strict=True))


def fitted(sets: Iterable[DataSet], methods: dict[str, Method]) -> Iterator[Row]:
    """Fit and evaluate each method on each data set."""
    for name, train, unseen, _ in sets:
        for title, method in methods.items():
            yield {"set": name, "method": title, **figures(method, train, unseen)}


def figures(method: Method, train: ps.Examples, unseen: ps.Examples) -> Row:
    """Return the figures of one fit, or why there are none."""
    start = time.perf_counter()
    try:
        skin = method.fit(train)
        seconds = time.perf_counter() - start
        score = ps.evaluate(skin, unseen)
    except InputError as error:
        return {"refused": " ".join(str(error).split())}
    except Exception as error:  # a fit that breaks is a finding too, and the other rows are still wanted
        return {"broke": " ".join(f"{type(error).__name__}: {error}".split())}
    values = (round(score.rel_err, 4), round(score.bytes_per_vertex, 1), round(seconds, 2))
    return dict(zip(FITTED[2:], values, strict=True))


def show(rows: Iterable[Row], columns: tuple[str, ...], as_json: bool) -> bool:
    """Print each row as soon as it is there, and return whether there was any."""
    if not as_json:
        print(f"| {' | '.join(columns)} |\n" + "|---" * len(columns) + "|", flush=True)
    shown = False
    for row in rows:
        others = " ".join(f"{key}: {value}" for key, value in row.items() if key not in columns)
        cells = [str(row[column]) for column in columns if column in row] + [others] * bool(others)
        cells += [""] * (len(columns) - len(cells))
        print(json.dumps(row) if as_json else f"| {' | '.join(cells)} |", flush=True)
        shown = True
    return shown


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="say what the data sets are, and fit nothing")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=["*"], help="names of data sets, * for any ending")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line per row")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSESPACE_DATA", DATA)))
    parser.add_argument("--cache", type=Path, help="keep simulated shapes in this folder; without it they are left out")
    parser.add_argument("--bones", action="store_true", help="fit muscles alone, with each kind of bones")
    given = parser.parse_args()
    sets = every(
        given.data,
        given.cache,
        given.only,
        lambda name, reason: print(f"left out: {name}: {reason}", file=sys.stderr, flush=True),
    )
    rows, columns = (listed(sets), LISTED) if given.list else (fitted(sets, BONES if given.bones else METHODS), FITTED)
    if not show(rows, columns, given.json):
        sys.exit(f"no data set at hand is called {' or '.join(given.only)}; --list shows their names")


if __name__ == "__main__":
    main()
