"""Packs data for the package.

Run: python -m posespace.datasets.pack hand.examples hand.npz HOW IT WAS MADE
or:  python -m posespace.datasets.pack fine hand_fine.npz
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from posespace.datasets import finer, stored
from posespace.examples import Examples
from posespace.formats.store.example_store import ExampleStore


def main() -> None:
    """Write the store named first, or the rest shape of the fine hand, to the file named second."""
    source, target, *words = sys.argv[1:]
    if source == "fine":
        from posespace.simulation.bodies.hand import hand

        worst, what = finer.write_rest(Path(target), hand(1).rig.mesh, hand(2).rig.mesh), "the fine hand at rest"
    else:
        examples = Examples.open(source)
        made = {"made by": " ".join(words), "version": version("posespace"), **ExampleStore.open(source).made}
        worst, what = stored.write(Path(target), examples, made), f"{len(examples)} shapes"
    size = Path(target).stat().st_size / 1e6
    print(f"{what} in {size:.2f} MB, rounded by at most {worst:.1e} of the mesh's unit")


if __name__ == "__main__":
    main()
