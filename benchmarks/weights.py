"""What optimised weights do to the error of EigenSkin on poses its fit did not see. What loses is shown losing.

Run: uv run python benchmarks/weights.py [--json] [--data FOLDER] [--only SET]
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from rivals import DATA, frames

import posespace as ps


def every_second(examples: ps.Examples) -> tuple[ps.Examples, ps.Examples]:
    """Poses that move one degree of freedom: the ends of each range and every second between to fit on, the others."""
    ranges = defaultdict(list)
    for index, name in enumerate(examples.motion.names):
        freedom, _, degrees = name.partition(" ")
        ranges[freedom].append((int(degrees or 0), index))
    out = [index for found in ranges.values() for _, index in sorted(found)[1:-1:2]]
    return examples[np.setdiff1d(np.arange(len(examples)), out)], examples[np.sort(out)]


def skins(train: ps.Examples) -> dict[str, ps.Skin]:
    """Every variant, fitted."""

    def once(smoothness: float, influences: int = 4) -> ps.Skin:
        rig = ps.optimise_weights(train, influences, smoothness=smoothness)
        return ps.EigenSkin(5).fit(replace(train, rig=rig))

    return {
        "plain skinning, optimised": ps.Skin(ps.optimise_weights(train)),
        "EigenSkin(5), given": ps.EigenSkin(5).fit(train),
        "EigenSkin(5), for plain skinning": once(0.01),
        "the same, 2 influences": once(0.01, 2),
        "the same, smoothness 0": once(0.0),
        "the same, smoothness 0.1": once(0.1),
        "the same, smoothness 1": once(1.0),
        "EigenSkin(5), optimised in turn": ps.EigenSkin(5, weights="optimised").fit(train),
        "the same, 6 entries per vertex": ps.EigenSkin(5, weights="optimised", size=6).fit(train),
        "EigenSkin(10), given": ps.EigenSkin(10).fit(train),
        "EigenSkin(10), optimised in turn": ps.EigenSkin(10, weights="optimised").fit(train),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line a table")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("POSESPACE_DATA", DATA)))
    parser.add_argument("--only", default="", help="what the title of a set begins with, such as dem-bones")
    given = parser.parse_args()
    train, unseen = ps.datasets.hand()
    sets = [("hand: fitted on single joints, evaluated on 25 random poses", train, unseen)]
    sets.append(("hand: single joints, evaluated on every second angle", *every_second(train)))
    sets.append(("arm", *ps.datasets.bending_arm()))
    if (given.data / "meshseq-dembones").is_dir():
        _, odd, even, _ = frames(given.data)
        sets.append(("dem-bones: blocks of 10 frames, 1st, 3rd, ... fitted, 2nd, 4th, ... evaluated", odd, even))
        sets.append(("dem-bones: the blocks the other way round", even, odd))
    for title, fitted, others in [each for each in sets if each[0].startswith(given.only)]:
        keys = ("rel_err", "max_error", "normal_degrees", "bytes_per_vertex")
        scores = {name: ps.evaluate(skin, others).figures() for name, skin in skins(fitted).items()}
        rows = {name: {key: figures[key] for key in keys} for name, figures in scores.items()}
        if given.json:
            print(json.dumps({"title": title, "rows": rows}))
            continue
        print(f"\n{title}\n| weights | rel_err | largest | normals | bytes per vertex |\n" + "|---" * 5 + "|")
        for name, row in rows.items():
            print(f"| {name} | " + " | ".join(f"{row[key]:.4g}" for key in keys) + " |")


if __name__ == "__main__":
    main()
