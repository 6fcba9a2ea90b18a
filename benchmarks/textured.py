"""A textured rig of another program, through a fit and back out, as Blender renders the file that comes out.

The sculpts are made: the belly swells as the character walks.

Run: uv run python benchmarks/textured.py [--picture docs/img/textured.png]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import posespace as ps

DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SOURCE = DATA / "humanoid-kaykit-knight" / "Knight.glb"
PLAYER = Path(__file__).parents[1] / "tests" / "helpers" / "blender_play.py"
BLENDER = ["uv", "run", "--no-project", "--python", "3.11", "--with", "bpy==4.2.*", "python"]
SIZE = 220


def swollen(rig: ps.Rig, clip: ps.Motion) -> ps.Skin:
    """A skin whose belly grows with every step, fitted on four poses of the clip."""
    chosen = clip[np.linspace(0, len(clip) * 3 // 4, 4).astype(int)]
    points = rig.mesh.points.astype(np.float64)
    belly = np.exp(-(((points[:, 1] - 0.75) / 0.2) ** 2))[:, None] * (points * [1, 0, 1])
    growth = np.linspace(0, 0.3, len(chosen))
    shapes = [rig.skin(pose, share * belly) for share, pose in zip(growth, chosen, strict=True)]
    return ps.PSD().fit(ps.Examples.from_shapes(rig, chosen, shapes))


def rendered(file: Path, times: list[float], folder: Path) -> Image.Image:
    """The file at some times, side by side, by Blender."""
    pictures = [folder / f"{k}.png" for k in range(len(times))]
    jobs = [
        {
            "file": str(file),
            "times": [time],
            "out": str(folder / "points"),
            "picture": str(picture),
            "size": [SIZE, SIZE],
        }
        for time, picture in zip(times, pictures, strict=True)
    ]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    subprocess.run([*BLENDER, PLAYER, folder / "jobs.json"], check=True, capture_output=True)
    whole = Image.new("RGB", (SIZE * len(times), SIZE), "white")
    for k, picture in enumerate(pictures):
        shown = Image.open(picture).convert("RGBA")
        whole.paste(shown, (k * SIZE, 0), shown)
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    rig = ps.load_rig(SOURCE)
    clip = ps.load_motion(SOURCE, rig.skeleton, "Walking_A")
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        file = folder / "knight.glb"
        ps.export(swollen(rig, clip), file, clip)
        again = ps.load_rig(file)
        look = again.mesh.look
        assert look is not None
        print(f"{SOURCE.name}: {SOURCE.stat().st_size / 1e6:.2f} MB, out: {file.stat().st_size / 1e6:.2f} MB")
        found = {"meshes": look.meshes, "materials": look.materials, "images": look.images, "targets": look.morphs}
        print(", ".join(f"{len(each)} {what}" for what, each in found.items()))
        if options.picture:
            times = np.linspace(0, float(clip.times.max()) * 3 / 4, 4).tolist()
            rendered(file, times, folder).quantize(64).save(options.picture, optimize=True)


if __name__ == "__main__":
    main()
