"""Pictures of control points in the studio: key poses made by dragging, and a take that plays with its markers.

Run: uv run python docs/studio_point_pictures.py [hand.skin], of `scanned_hand(vertices=4000)`; default: fitted here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from drag_pictures import FAR, GRAPHICS, ORBIT, PROJECT, REST
from playwright.sync_api import sync_playwright

import posespace as ps
from posespace.check import Floats
from posespace.poses.control_points import motion_from_shapes

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from markers import BACK, DATA, glove_points

IMG = Path(__file__).with_name("img")
BENT = ("pair little_mcp.x +76 little_pip.x +82", "pair index_mcp.x +82 index_pip.x +86")
"""The examples to which points are dragged, each from rest."""
SECONDS = 18.6
"""The time of the take that is shown."""


def main(skin_file: Path | None) -> None:
    """Take both pictures."""
    hand = ps.datasets.scanned_hand(vertices=4000)
    examples = replace(hand.examples, heights=hand.heights, levels=1)
    skin = ps.ControlPoints().fit(examples) if skin_file is None else ps.Skin.load(skin_file)
    poses = motion_from_shapes(examples, skin.rig, skin.bones.points)
    bent = [poses[hand.names.index(name)].translations[1:] for name in BENT]
    with tempfile.TemporaryDirectory() as folder:
        skin.save(Path(folder) / "hand.skin")
        with page_of(Path(folder) / "hand.skin") as page:
            orbit(page)
            page.click("button:text-is('store')")
            for shape in bent:
                page.click("button:text-is('reset all')")
                drag(page, skin, shape)
                page.click("button:text-is('store')")
            page.screenshot(path=IMG / "studio-points.png")
        with page_of(*take(Path(folder))) as page:
            page.keyboard.press(" ")
            page.evaluate(f"posespace.stage.posing.seek({SECONDS})")
            page.wait_for_timeout(1000)
            page.screenshot(path=IMG / "studio-markers.png")


def take(folder: Path) -> tuple[str | Path, ...]:
    """The words that open a hand with points where the markers of a glove are, and the take of that glove."""
    hand = ps.datasets.scanned_hand(1, "grasps", 4000)
    picked = glove_points(hand.examples.rig)
    skin, mapping = folder / "hand.skin", folder / "map.json"
    ps.ControlPoints(picked=tuple(picked.values()), bones=200).fit(hand.examples).save(skin)
    points = {marker: f"point{k}" for k, marker in enumerate(picked, 1)}
    mapping.write_text(json.dumps({"posespace": "markers", "version": 1, "points": points, "place_by": BACK}))
    recording = DATA / "hand-markers-dfki" / "recording_train.tsv"
    return skin, "--motion", recording, "--markers", mapping


@contextmanager
def page_of(*words: str | Path) -> Iterator[Any]:
    """The page of a studio of these words of the command line."""
    command = ["posespace", "studio", "--no-browser", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, sync_playwright() as playwright:
        assert process.stdout is not None
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=GRAPHICS)
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.goto(process.stdout.readline().strip())
        page.wait_for_selector("body[data-ready=yes]")
        yield page
        process.terminate()


def orbit(page: Any) -> None:
    """Move the camera to the thumb's side, so that fingers bend in the plane of the view."""
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + 20, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + ORBIT[0] * box["height"], y + ORBIT[1] * box["height"], steps=8)
    page.mouse.up()
    page.evaluate(REST)


def drag(page: Any, skin: ps.Skin, bent: Floats) -> None:
    """Drag all points that are far from where they should be, those near the wrist first."""
    unit, rest = skin.rig.mesh.unit, skin.bones.rest
    box = page.locator("#stage").bounding_box()
    for point in order(rest, np.flatnonzero(np.linalg.norm(bent, axis=1) > FAR)):
        targets = page.evaluate(PROJECT, (unit * (rest + bent)).tolist())
        disc = page.locator(f"#handles circle[data-point='{point}']")
        page.mouse.move(box["x"] + float(disc.get_attribute("cx")), box["y"] + float(disc.get_attribute("cy")))
        page.mouse.down()
        page.mouse.move(box["x"] + targets[point][0], box["y"] + targets[point][1], steps=6)
        page.mouse.up()
        page.wait_for_timeout(200)


def order(rest: Floats, points: Sequence[int]) -> list[int]:
    """The points from the wrist to the tips."""
    return sorted(points, key=lambda point: float(rest[point, 1]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
