"""What a frame of control points takes in JavaScript, in processor time: bones, corrections, detail and normals.

Run: uv run python benchmarks/posed_surface.py [--vertices 4000 49000] [--bones 200 1300] [--skins FOLDER] [--json]
With --skins the fits are read from that folder, or written to it where there are none. It needs Node, and
`npm ci --ignore-scripts` in the folder player.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from browser import poses_of
from points_frame import fitted
from timing import show

import posespace as ps

PLAYER = Path(__file__).parents[1] / "player"


def silent(_: str) -> None:
    """Takes what an export has to say."""


def measured(skins: list[tuple[ps.Skin, ps.Motion]]) -> list[dict[str, Any]]:
    """Milliseconds of each skin, its surface posed by Node."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for k, (skin, motion) in enumerate(skins):
            path = Path(folder) / f"{k}.glb"
            ps.export(skin, path, warn=silent)
            jobs.append({"file": str(path), "poses": poses_of(motion, skin.rig.mesh.unit)})
        (Path(folder) / "jobs.json").write_text(json.dumps(jobs))
        words = ["node", str(PLAYER / "tests" / "posed_cost.mjs"), str(Path(folder) / "jobs.json")]
        found: list[dict[str, Any]] = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, nargs="+", default=[4000, 49_000])
    parser.add_argument("--bones", type=int, nargs="+", default=[200, 1300])
    parser.add_argument("--skins", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    skins = []
    for vertices, bones in zip(given.vertices, given.bones, strict=True):
        file = None if given.skins is None else given.skins / f"hand{vertices}.skin"
        skins.append(fitted(vertices, bones, file))
    rows = [
        {
            "vertices": f"{len(skin.rig.mesh.points)} / {len(skin.mesh.points)}",
            "bones": len(skin.bones),
            "bones, ms": round(result["bones"], 2),
            "without detail, ms": round(result["coarse"], 1),
            "frame, ms": round(result["frame"], 1),
            "another beta, ms": round(result["beta"], 1),
            "loading, ms": round(result["load"]),
        }
        for (skin, _), result in zip(skins, measured(skins), strict=True)
    ]
    show("a frame of control points in Node, one core, processor time", rows, given.json)


if __name__ == "__main__":
    main()
