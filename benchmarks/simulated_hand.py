"""How the poses of a simulation fared, from its log, and how far plain skinning is off on the built-in hand.

Run: uv run python benchmarks/simulated_hand.py hand.examples.log
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from posespace import datasets


def main() -> None:
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    groups = {
        "one joint at a time": [row for row in rows if not row["name"].startswith("random")],
        "all joints at once": [row for row in rows if row["name"].startswith("random")],
    }
    print(
        "| poses | solved | seconds, median (most) | Newton steps, median (most) | volume change, most | least det F |"
    )
    print("|---|---|---|---|---|---|")
    for title, group in groups.items():
        good = [row for row in group if row["converged"]]
        if not good:
            continue
        seconds, newton = ([row[key] for row in good] for key in ("seconds", "newton"))
        volume = max(abs(row["volume_change"]) for row in good)
        least = min(row["least_jacobian"] for row in good)
        print(
            f"| {title} | {len(good)} of {len(group)} | {np.median(seconds):.1f} ({max(seconds):.0f}) "
            f"| {np.median(newton):.0f} ({max(newton)}) | {100 * volume:.2f} % | {least:.3f} |"
        )
    for row in rows:
        if not row["converged"]:
            print(f"failed: {row['name']}: {row['reason']}")
    _, unseen = datasets.hand()
    gaps = np.array([np.linalg.norm(unseen.rig.skin(pose) - shape, axis=1) for pose, shape in unseen])
    print(f"plain skinning of the built-in random poses: {gaps.mean():.1f} mm on average, {gaps.max():.1f} mm at most")


if __name__ == "__main__":
    main()
