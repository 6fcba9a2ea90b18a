"""What an EigenSkin fit costs: against reading the same data and one plain skinning pass, in time and memory.

The fine hand, 27,954 vertices, from a store on disk; and parts of it, to see that the cost grows evenly. Then a clip in
which all joints move at once, where there is one: dem-bones, 754 vertices, all 300 frames.
Run: uv run python benchmarks/fit_cost.py [--json]
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from rivals import DATA
from sets.mesh_sequences import dem_bones
from timing import alternate, show, wants_json

import posespace as ps
from posespace.motion import Motion


def stores(folder: Path) -> dict[str, Path]:
    """Stores of three sizes: all poses of both levels, and half the poses of the fine one."""
    found = {}
    for level, part in ((1, 1), (2, 2), (2, 1)):
        single, random = ps.datasets.hand(level)
        rotations = np.concatenate([each.motion.rotations[::part] for each in (single, random)])
        names = (*single.motion.names[::part], *random.motion.names[::part])
        shapes = [each.shapes[k].astype(np.float32) for each in (single, random) for k in range(0, len(each), part)]
        name = f"{len(single.rig.mesh.points):,} x {len(names)}"
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


def clip(data: Path) -> list[dict[str, object]]:
    """Seconds for a fit of dem-bones' 300 frames, once each."""
    examples = dem_bones(data)
    methods = {
        "EigenSkin": ps.EigenSkin(),
        "EigenSkin, optimised weights": ps.EigenSkin(weights="optimised"),
        "PSD": ps.PSD(),
        "Muscles": ps.Muscles(),
    }
    rows: list[dict[str, object]] = []
    for name, method in methods.items():
        start = time.perf_counter()
        method.fit(examples)
        rows.append({"fit": name, "s": round(time.perf_counter() - start, 1)})
    return rows


def main() -> None:
    as_json = wants_json()
    data_folder = Path(os.environ.get("POSESPACE_DATA", DATA))
    folder = Path(tempfile.mkdtemp())
    try:
        rows = []
        for name, path in stores(folder).items():
            times = alternate({"read": lambda p=path: read_and_skin(p), "fit": lambda p=path: fit(p)}, rounds=3)
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
    show("hand", rows, as_json)
    if (data_folder / "meshseq-dembones").is_dir():
        show("dem-bones, 300 frames", clip(data_folder), as_json)


if __name__ == "__main__":
    main()
