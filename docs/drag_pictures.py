"""Pictures of the page of a scanned hand: before, during and after a drag, on a desk and on a phone.

Run: uv run python docs/drag_pictures.py [hand.skin], one of `scanned_hand(vertices=4000)`; default: fitted here.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import posespace as ps
from posespace.check import Floats
from posespace.poses.control_points import motion_from_shapes

IMG = Path(__file__).with_name("img")
BENT = "pair index_mcp.x +82 index_pip.x +86"
"""The example to which the points are dragged."""
FAR = 12.0
"""Points that are farther than this from rest there are dragged, in millimetres."""
SHARE = 1.0
"""How much of the way they are dragged."""
ORBIT = (0.23, -0.066)
"""By how much of a whole rotation the camera moves, to the thumb's side: the finger bends in the plane of the view."""
BACK = 0.4
"""How much of that it moves back for the last picture."""
GRAPHICS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
REST = """() => new Promise((rested) => {
    const { camera } = posespace.stage;
    let [before, still] = [camera.position.clone(), 0];
    const look = () => {
        still = camera.position.distanceTo(before) < 1e-6 ? still + 1 : 0;
        before = camera.position.clone();
        if (still > 5) rested();
        else requestAnimationFrame(look);
    };
    look();
})"""
PROJECT = """(positions) => positions.map((position) => {
    const { camera, renderer } = posespace.stage;
    const { clientWidth: width, clientHeight: height } = renderer.domElement;
    const { x, y } = camera.position.clone().fromArray(position).project(camera);
    return [(x + 1) * width / 2, (1 - y) * height / 2];
})"""


def main(skin_file: Path | None) -> None:
    """Take all pictures."""
    hand = ps.datasets.scanned_hand(vertices=4000)
    examples = replace(hand.examples, heights=hand.heights, levels=1)
    skin = ps.ControlPoints().fit(examples) if skin_file is None else ps.Skin.load(skin_file)
    bent = motion_from_shapes(examples, skin.rig, skin.bones.points)[hand.names.index(BENT)].translations[1:]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "hand.html"
        ps.export(skin, path)
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=GRAPHICS)
        desk = _pictures(chromium.new_page(viewport={"width": 1280, "height": 800}), path, skin, bent)
        for name, picture in zip(("before", "during", "after"), desk, strict=True):
            picture.save(IMG / f"drag-{name}.png", optimize=True)
        phone = chromium.new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        row = np.concatenate([np.asarray(picture) for picture in _pictures(phone, path, skin, bent)], axis=1)
        Image.fromarray(row).save(IMG / "drag-phone.png", optimize=True)


def _pictures(page: Any, path: Path, skin: ps.Skin, bent: Floats) -> list[Image.Image]:
    """The page before, during and after the last of some drags that bend a finger."""
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    _orbit(page, ORBIT)
    pictures = [_picture(page)]
    unit, rest = skin.rig.mesh.unit, skin.bones.rest
    moved = np.flatnonzero(np.linalg.norm(bent, axis=1) > FAR)
    # From the knuckle to the tip.
    for point in moved[np.argsort(rest[moved, 1])]:
        targets = page.evaluate(PROJECT, (unit * (rest + SHARE * bent)).tolist())
        disc = page.locator(f"#handles circle[data-point='{point}']")
        page.mouse.move(float(disc.get_attribute("cx")), float(disc.get_attribute("cy")))
        page.mouse.down()
        page.mouse.move(*targets[point], steps=6)
        page.wait_for_timeout(300)
        if point == moved[np.argmax(rest[moved, 1])]:
            pictures.append(_picture(page))
        page.mouse.up()
        page.wait_for_timeout(100)
    page.click("button:text-is('store')")
    _orbit(page, (-BACK * ORBIT[0], -BACK * ORBIT[1]))
    return [*pictures, _picture(page)]


def _orbit(page: Any, by: tuple[float, float]) -> None:
    """Move the camera by parts of a whole rotation, around and up."""
    height = page.evaluate("posespace.stage.renderer.domElement.clientHeight")
    page.mouse.move(20, height / 2)
    page.mouse.down()
    page.mouse.move(20 + by[0] * height, height * (0.5 + by[1]), steps=8)
    page.mouse.up()
    page.mouse.move(5, 5)
    # The camera glides to a stop.
    page.evaluate(REST)


def _picture(page: Any) -> Image.Image:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        page.screenshot(path=path)
        return Image.open(path).convert("RGB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
