"""What an EigenSkin fit costs: against reading the same data and one plain skinning pass, in time and memory.

The fine hand, 27,954 vertices, its 147 poses, from a store on disk; and parts of it, to see that the cost grows evenly.
Run: uv run python benchmarks/fit_cost.py [--json]
"""

from __future__ import annotations

import json
import shutil
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
from timing import take_turns, wants_json

import posespace as ps
from posespace.cli.printing import markdown_table
from posespace.motion import Motion


def stores(folder: Path) -> dict[str, Path]:
    """Stores of three sizes: all poses of both levels, and half the poses of the fine one."""
    found = {}
    for name, level, part in (("6,990 x 147", 1, 1), ("27,954 x 74", 2, 2), ("27,954 x 147", 2, 1)):
        single, random = ps.datasets.hand(level)
        rotations = np.concatenate([each.motion.rotations[::part] for each in (single, random)])
        names = (*single.motion.names[::part], *random.motion.names[::part])
        shapes = [each.shapes[k].astype(np.float32) for each in (single, random) for k in range(0, len(each), part)]
        found[name] = folder / f"{len(found)}.examples"
        ps.Examples.from_shapes(single.rig, Motion(rotations, names=names), np.stack(shapes)).save(found[name])
    return found


def read_and_skin(path: Path) -> None:
    """Read all shapes into memory and skin every pose once."""
    examples = ps.Examples.open(path)
    data = np.stack([examples.shapes[k] for k in range(len(examples))])
    for pose in examples.motion:
        examples.rig.skin(pose)
    assert len(data) == len(examples)


def fit(path: Path) -> None:
    """Fit a skin to the store."""
    ps.EigenSkin().fit(ps.Examples.open(path))


def peak(path: Path) -> float:
    """The most bytes that a fit holds at once, excluding what was there before."""
    tracemalloc.start()
    fit(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(most)


def main() -> None:
    as_json = wants_json()
    folder = Path(tempfile.mkdtemp())
    try:
        rows = []
        for name, path in stores(folder).items():
            times = take_turns({"read": lambda p=path: read_and_skin(p), "fit": lambda p=path: fit(p)}, rounds=3)
            examples = ps.Examples.open(path)
            data = 12 * len(examples) * len(examples.rig.mesh.points)
            rows.append(
                {
                    "vertices x poses": name,
                    "read and skin, s": round(times["read"].median, 2),
                    "fit, s": round(times["fit"].median, 2),
                    "ratio": round(times["fit"].median / times["read"].median, 2),
                    "fit, ns per vertex and pose": round(1e9 * times["fit"].median / (data / 12), 1),
                    "peak memory, times the data": round(peak(path) / data, 2),
                }
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if as_json:
        print(json.dumps(rows))
        return
    print(markdown_table(rows))


if __name__ == "__main__":
    main()
