"""Pictures of the studio, driven as a user drives it: a corrective elbow, a map of poses, a fit, control points.

Run: uv run --all-extras python docs/studio_pictures.py [the folder with the assets, default ../shared/data]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import posespace as ps
from posespace.poses.control_points import motion_from_shapes

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.browsing import GRAPHICS, opened_chromium  # noqa: E402
from helpers.marker_files import tsv  # noqa: E402
from helpers.studio_client import studio  # noqa: E402
from helpers.studio_page import StudioPage  # noqa: E402

IMG = Path(__file__).with_name("img")
KNIGHT = "humanoid-kaykit-knight/Knight.glb"
COLOURS = 256
"""Of a picture's palette: half the bytes, and no banding that one sees."""
FRAME = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
STILL = 1e-3
"""Metres that a camera moves from look to look when it counts as standing."""
CAMERA = "() => posespace.stage.camera.position.toArray()"
SHOWN = "index_mcp.x +66"
"""The example of the hand that the map shows."""
Pixel = tuple[float, float]


class Desk(StudioPage):
    """A page of the studio with a mouse on it, that takes pictures."""

    def frame(self) -> None:
        """Wait until a frame is drawn."""
        self.page.evaluate(FRAME)

    def drag(self, way: Sequence[Pixel], button: str = "left", keys: Sequence[str] = ()) -> None:
        """Drag the mouse along pixels."""
        self.page.mouse.move(*way[0])
        for key in keys:
            self.page.keyboard.down(key)
        self.page.mouse.down(button=button)
        for pixel in way[1:]:
            self.page.mouse.move(*pixel)
            self.frame()
        self.page.mouse.up(button=button)
        for key in keys:
            self.page.keyboard.up(key)

    def settle(self) -> None:
        """Wait until the camera has glided to a stop."""
        before, far = np.array(self.page.evaluate(CAMERA)), np.inf
        while far > STILL:
            for _ in range(3):
                self.frame()
            now = np.array(self.page.evaluate(CAMERA))
            before, far = now, float(np.linalg.norm(now - before))

    def camera(self, turn: Pixel = (0, 0), steps: int = 0, shift: Pixel = (0, 0)) -> None:
        """Rotate the camera by pixels, come nearer by steps of the wheel, and move it by pixels."""
        box = self.page.locator("#stage").bounding_box()
        x, y = box["x"] + 30, box["y"] + box["height"] - 60
        self.drag(line((x, y), (x + turn[0], y + turn[1])))
        self.settle()
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for _ in range(steps):
            self.page.mouse.wheel(0, -120)
            self.settle()
        self.drag(line((x, y), (x + shift[0], y + shift[1])), "right")
        self.settle()

    def picture(self, name: str) -> None:
        """Take a picture of the page as it is, the pointer where it is."""
        self.settle()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.png"
            self.page.screenshot(path=path)
            taken = Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        taken.save(IMG / f"studio-{name}.png", optimize=True)

    def rest_mouse(self) -> None:
        """Bring the pointer where it points at nothing."""
        box = self.page.locator("#stage").bounding_box()
        self.page.mouse.move(box["x"] + 20, box["y"] + 20)

    def scroll(self, selector: str) -> None:
        """Bring a part of a panel into view."""
        self.page.locator(selector).first.evaluate("(part) => part.scrollIntoView({ block: 'start' })")


def main(data: Path) -> None:
    """Take all pictures."""
    chromium = shutil.which("chromium")
    assert chromium, "chromium: expected it on the path"
    with opened_chromium(chromium, *GRAPHICS) as browser, tempfile.TemporaryDirectory() as folder:
        elbow(browser, data / KNIGHT, Path(folder) / "knight.examples")
        hand(browser, Path(folder) / "hand.examples")
        points(browser, Path(folder))


def elbow(browser: Any, rig: Path, store: Path) -> None:
    """A corrective for an elbow, step by step."""
    with studio("--new", rig, "-o", store) as process:
        desk = Desk(browser, process)
        desk.rest_mouse()
        desk.picture("open")
        desk.camera((25, -50), 5, (-215, 85))
        bend(desk)
        desk.picture("pose")
        sculpt(desk)
        desk.picture("sculpt")
        desk.page.get_by_placeholder("name of the sculpt").fill("elbow bent L")
        desk.press("define")
        solved(desk, 2)
        halfway(desk)
        desk.picture("half")
        look(desk)
        desk.picture("heat")
        mirror(desk)
        desk.picture("mirror")
        desk.page.close()


def bend(desk: Desk) -> None:
    """Click the forearm and drag the ring of its x axis."""
    desk.select("lowerarm.l")
    desk.rotate("x", 80)
    desk.rest_mouse()


def sculpt(desk: Desk) -> None:
    """Pull the elbow out with one brush, and swell the upper arm with another."""
    desk.page.locator("#stage").focus()
    desk.page.keyboard.press("n")
    desk.page.get_by_role("button", name="grab").wait_for()
    x, y = desk.joint_pixel()
    desk.drag(line((x + 14, y + 30), (x + 44, y + 70)))
    desk.page.keyboard.press("i")
    for _ in range(2):
        desk.drag(line((x - 50, y - 20), (x - 20, y - 25), 12))
    desk.frame()


def solved(desk: Desk, sculpts: int) -> None:
    """Wait until there are so many sculpts and the page shows their skin."""
    desk.wait(f"info.sculpts.length === {sculpts}")
    desk.wait("document.body.dataset.skin === `${info.revision}`")


def halfway(desk: Desk) -> None:
    """Bend half as far: the curve says how much of the sculpt is there."""
    desk.rotate("x", 40)
    desk.rest_mouse()
    desk.scroll(".sculpts")


def look(desk: Desk) -> None:
    """Back at the sculpt: its shape on the left of the divider, plain skinning with its error on the right."""
    desk.press("elbow bent L")
    desk.wait("stage.posing.source.kind === 'listed'")
    desk.press("split")
    desk.page.get_by_label("left of the comparison").select_option("truth")
    desk.page.get_by_label("right of the comparison").select_option("plain")
    desk.page.get_by_label("errors as colours").check()
    desk.page.locator(".colour-bar").wait_for()
    x, _ = desk.joint_pixel()
    knob = desk.page.locator(".divider .knob").bounding_box()
    grip = (knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
    desk.drag(line(grip, (x - 10, grip[1])))
    desk.rest_mouse()


def mirror(desk: Desk) -> None:
    """Mirror the sculpt and go to its image; the undo button names the change."""
    desk.page.get_by_label("errors as colours").uncheck()
    desk.page.locator(".views button", has_text="skin").click()
    desk.press("mirror")
    solved(desk, 3)
    desk.press("elbow bent R")
    desk.wait("stage.posing.source.kind === 'listed' && project.chosen === 'elbow bent R'")
    desk.press("fit view")
    desk.scroll(".first-step")
    desk.rest_mouse()


def hand(browser: Any, store: Path) -> None:
    """The built-in hand: the map of its poses in the dark, and a fit of another method on a small screen."""
    examples, _ = ps.datasets.hand()
    examples.save(store)
    with studio(store) as process:
        desk = Desk(browser, process)
        desk.wait("info.method === 'psd' && document.body.dataset.skin === `${info.revision}`")
        desk.press("light or dark")
        desk.press(SHOWN)
        desk.wait("stage.posing.source.kind === 'listed'")
        desk.page.locator(".pose-map .map button").first.wait_for(state="attached")
        desk.scroll("details.influence")
        desk.rest_mouse()
        desk.picture("map")
        desk.page.close()
        small = Desk(browser, process, 1024, 768)
        fit(small)
        small.picture("fit")
        small.page.close()


def fit(desk: Desk) -> None:
    """Fit EigenSkin twice, the second time with fewer components, and see where one layer acts."""
    desk.page.locator("summary", has_text="Fit").click()
    desk.page.get_by_role("button", name="EigenSkin").click()
    for count, components in enumerate((5, 2), 1):
        desk.page.get_by_label("components").first.fill(str(components))
        desk.page.get_by_label("components").first.press("Tab")
        desk.press("fit")
        desk.page.locator(".fit-panel tbody tr").nth(count - 1).wait_for()
    desk.page.locator(".fit-panel svg").first.wait_for()
    desk.wait("document.body.dataset.skin === `${info.revision}`")
    desk.scroll(".fit-panel .said")
    desk.rest_mouse()


def points(browser: Any, folder: Path) -> None:
    """A scanned hand whose points follow the markers of a take, with a key pose."""
    scanned = ps.datasets.scanned_hand(vertices=1500)
    examples = replace(scanned.examples, heights=scanned.heights, levels=1)
    skin = ps.ControlPoints().fit(examples)
    skin.save(folder / "scanned.skin")
    take = tsv(folder / "take.tsv", marked(skin, motion_from_shapes(examples, skin.rig, skin.bones.points)))
    with studio(folder / "scanned.skin", "--motion", take) as process:
        desk = Desk(browser, process)
        desk.page.keyboard.press(" ")
        desk.page.evaluate("() => posespace.stage.posing.seek(0.9)")
        for _ in range(3):
            desk.frame()
        desk.picture("take")
        desk.page.close()


def marked(skin: ps.Skin, motion: ps.Motion) -> ps.Markers:
    """Return markers at the control points on their way from rest to the fist."""
    names, rest = skin.rig.skeleton.names[1:], skin.rig.skeleton.rest_world[1:, :3, 3]
    way = np.linspace(0, 1, 61)[:, None, None] * motion[motion.names.index("fist")].translations[1:]
    return ps.Markers(names, rest + way, np.ones(way.shape[:2], dtype=bool), rate=60.0)


def line(start: Pixel, end: Pixel, steps: int = 10) -> list[Pixel]:
    """Pixels on a line."""
    return [(x, y) for x, y in np.linspace(start, end, steps + 1).tolist()]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "data")
