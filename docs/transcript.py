"""Runs the commands of a page on real rigs, in a temporary folder, and shows or writes what they print.

Run: uv run python docs/transcript.py PAGE [--write], of transcript.md or sculpts.md; the rigs are in the folder
POSESPACE_DATA, or beside the repository
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posespace.examples import Examples
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import Image, render
from posespace.skin.skin import Skin

DOCS = Path(__file__).parent
DATA = Path(os.environ.get("POSESPACE_DATA", DOCS.parents[1] / "shared" / "data"))
Shown = tuple[str, str, tuple[float, float, float], float]


@dataclass(frozen=True)
class Page:
    """What a page needs.

    Parameters
    ----------
    rigs : what the page calls the files, and where they are
    shown : the rows of its picture: a rig, its pose, the direction it is seen from, how much of its diagonal is seen
    picture : the picture's file
    cell : width and height of each of its parts
    """

    rigs: dict[str, str]
    shown: tuple[Shown, ...]
    picture: str
    cell: tuple[int, int] = (300, 270)


PAGES = {
    "transcript.md": Page(
        {
            "hand_l.gltf": "hand-godot-xr/hand_l.gltf",
            "poses_left.json": "hand-godot-xr/poses_left.json",
            "character.glb": "humanoid-rocketbox/Female_Adult_01_cheer_03.glb",
            "hand_left_crop.npz": "makehuman-cc0/hand_left_crop.npz",
        },
        (
            ("hand", "Pinch Tight", (1.0, 0.3, 0.2), 0.3),
            ("character", "45", (-1.0, 0.2, 0.5), 0.15),
            ("makehuman", "fingers 2345 by 70", (1.0, 0.3, 0.5), 0.35),
        ),
        "transcript.png",
    ),
    "sculpts.md": Page(
        {"knight.glb": "humanoid-kaykit-knight/Knight.glb"},
        (("knight", "bentL", (0.5, -0.2, 1.0), 0.25), ("knight", "bentR", (-0.5, -0.2, 1.0), 0.25)),
        "sculpts.png",
        (230, 200),
    ),
}
_FIRST, _LAST = 5, 3
_INDENT = "    "


def scripts(page: str) -> dict[str, str]:
    """Return the scripts that the page shows, by file name: indented blocks that begin with a docstring."""
    found = re.findall(r'`(\w+\.py)`.*\n(?:.+\n)*\n((?=    """)(?:    .*\n|\n)+)', page)
    return {name: re.sub(r"^    ", "", block, flags=re.MULTILINE).strip() + "\n" for name, block in found}


def pose_files(page: str) -> dict[str, str]:
    """Return the pose files that the page shows, by file name: JSON under a line that names the file."""
    return dict(re.findall(r"`([\w-]+\.json)`[^`]*\n```json\n(.*?)```", page, re.DOTALL))


def shortened(output: str) -> list[str]:
    """Return the lines of an output; of a long part of it, up to a blank line, the first and the last."""
    lines: list[str] = []
    for part in filter(None, output.rstrip().split("\n\n")):
        found = part.splitlines()
        lines += [""] if lines else []
        lines += found if len(found) <= _FIRST + _LAST + 2 else [*found[:_FIRST], "...", *found[-_LAST:]]
    return lines


def transcribed(page: str, folder: Path) -> str:
    """Return the page with each of its commands run in the folder, followed by what it prints."""
    lines: list[str] = []
    in_session = False
    for line in page.splitlines():
        if line.startswith(f"{_INDENT}$ "):
            printed = shortened(_run(line.split("$ ", 1)[1], folder))
            lines += [""] if in_session else []
            lines += [line, *(f"{_INDENT}{each}".rstrip() for each in printed)]
            in_session = True
        elif not in_session:
            lines.append(line)
        elif line and not line.startswith(_INDENT):
            lines += ["", line]
            in_session = False
    return "\n".join(lines) + "\n"


def _run(command: str, folder: Path) -> str:
    start = time.perf_counter()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    told = subprocess.run(
        command, shell=True, cwd=folder, env=os.environ | {"PATH": path}, text=True, capture_output=True, check=False
    )
    print(f"{time.perf_counter() - start:5.1f} s  {command}")
    if told.returncode:
        raise SystemExit(told.stderr)
    return told.stderr + told.stdout


def picture(folder: Path, page: Page) -> Image:
    """Return a row for each rig and pose: plain skinning, the sculpt, and both skins."""
    rows: list[list[Image]] = []
    for rig, pose, towards, share in page.shown:
        examples = Examples.open(folder / f"{rig}.examples")
        skins = [Skin.load(folder / f"{rig}-{method}.skin") for method in ("psd", "eigenskin")]
        index = examples.motion.index(pose)
        at = examples.motion[index]
        shapes = [examples.rig.skin(at), examples.shapes[index], *(skin.pose(at)[0] for skin in skins)]
        errors = [np.linalg.norm(shape - shapes[1], axis=1) for shape in shapes]
        mesh, worst = examples.rig.mesh, int(errors[0].argmax())
        camera = Camera(towards, target=shapes[1][worst], extent=share * mesh.diagonal)
        colors = [None if k == 1 else heat(error, float(errors[0].max())) for k, error in enumerate(errors)]
        cells = zip(shapes, colors, strict=True)
        rows.append([render(shape, mesh.triangles, camera, page.cell, colors=color) for shape, color in cells])
    return montage(rows, titles=["plain skinning", "sculpt", "PSD", "EigenSkin"])


def main(name: str, write: bool) -> None:
    """Run a page's commands; write what they print to the page, and the picture, or only show it."""
    text, page = (DOCS / name).read_text(), PAGES[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file, source in page.rigs.items():
            shutil.copyfile(DATA / source, folder / file)
        # The script that sculpts is shown on one page, for all.
        every = scripts((DOCS / "transcript.md").read_text())
        for file, content in (every | pose_files(text)).items():
            (folder / file).write_text(content)
        text = transcribed(text, folder)
        if write:
            (DOCS / name).write_text(text)
            save_png(DOCS / "img" / page.picture, picture(folder, page))
        else:
            print(text)


if __name__ == "__main__":
    main(next((word for word in sys.argv[1:] if word in PAGES), "transcript.md"), "--write" in sys.argv)
