"""Packs an example store for the package.

Run: python -m posespace.datasets.pack hand.examples hand.npz HOW IT WAS MADE
"""

from __future__ import annotations

import sys
from pathlib import Path

from posespace.datasets import stored
from posespace.examples import Examples


def main() -> None:
    """Write the store named first to the file named second."""
    store, target, *words = sys.argv[1:]
    examples = Examples.open(store)
    worst = stored.write(Path(target), examples, {"made by": " ".join(words)})
    size = Path(target).stat().st_size / 1e6
    print(f"{len(examples)} shapes in {size:.2f} MB, rounded by at most {worst:.1e} of the mesh's unit")


if __name__ == "__main__":
    main()
