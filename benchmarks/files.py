"""The library's own files against the machine: opening a skin, and reading an example store, beside a memory copy.

Run: uv run python benchmarks/files.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import zarr
from safetensors.numpy import load_file
from timing import alternate, report, wants_json

from posespace import datasets
from posespace.examples import Examples
from posespace.fit.psd.psd import PSD
from posespace.skin.skin import Skin


def main() -> None:
    as_json = wants_json()
    train = datasets.bending_arm(rings=300, sides=100)[0]
    with tempfile.TemporaryDirectory() as folder:
        store, skin = Path(folder) / "arm.examples", Path(folder) / "arm.skin"
        train.save(store)
        PSD().fit(train).save(skin)
        opened = Examples.open(store)
        stack = np.stack([opened.shapes[k] for k in range(len(opened))])
        megabytes = stack.nbytes / 1e6
        reading = {
            "memory copy of the shapes": stack.copy,
            "posespace, first time, checksums": lambda: _touch(Examples.open(store)),
            "posespace, again": lambda: _touch(opened),
            "zarr library": lambda: zarr.open_array(store / "shapes", mode="r")[...],
        }
        title = f"examples: {len(opened)} shapes of {opened.rig.mesh.points.shape[0]} vertices, {megabytes:.0f} MB"
        report(title, alternate(reading), "memory copy of the shapes", as_json)
        opening = {
            "posespace, read and checked": lambda: Skin.load(skin),
            "safetensors library, copied": lambda: load_file(skin),
            "plain read of the bytes": skin.read_bytes,
        }
        size = skin.stat().st_size / 1e6
        report(f"skin: opening {size:.0f} MB", alternate(opening), "plain read of the bytes", as_json)


def _touch(examples: Examples) -> float:
    """Read every number of every shape."""
    return float(sum(examples.shapes[k].max() for k in range(len(examples))))


if __name__ == "__main__":
    main()
