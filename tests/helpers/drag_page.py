"""A page of control points in a browser: its surface, its handles, and a mouse and fingers on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import posespace as ps
from posespace.check import Floats
from posespace.formats.gltf.write.conversion import UPS
from posespace.mesh import UNITS

_USUAL: Mapping[str, str] = MappingProxyType({})

_SURFACE = """() => {
    const { stage } = posespace;
    stage.draw();
    const [mesh] = stage.skins[0].meshes;
    const point = stage.camera.position.clone();
    return Array.from({ length: mesh.geometry.attributes.position.count }, (_, k) =>
        mesh.localToWorld(mesh.getVertexPosition(k, point)).toArray());
}"""
_FRAME = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


class DragPage:
    """An opened page.

    Parameters
    ----------
    chromium : the browser
    path : the page, or its address
    skin : what the page was made of
    axes : the unit and the axis that points up, as it was exported with
    phone : whether it is a small screen that feels fingers
    """

    def __init__(
        self, chromium: Any, path: Path | str, skin: ps.Skin, axes: Mapping[str, str] = _USUAL, phone: bool = False
    ) -> None:
        self.skin, self.said = skin, list[str]()
        self._metres = UNITS[axes["unit"]] if "unit" in axes else skin.rig.mesh.unit
        self._rotation = UPS[axes.get("up", "y")]
        width, height = (390, 844) if phone else (900, 600)
        self.page = chromium.new_page(viewport={"width": width, "height": height}, has_touch=phone)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(path if isinstance(path, str) else path.as_uri())
        self.page.wait_for_selector("body[data-ready=yes]")
        self._fingers = self.page.context.new_cdp_session(self.page) if phone else None
        self.frame()

    def close(self) -> None:
        """Close the page, which must not have complained."""
        self.page.close()
        assert self.said == []

    def frame(self) -> None:
        """Wait until a frame is drawn."""
        self.page.evaluate(_FRAME)

    @property
    def box(self) -> float:
        """The diagonal of the rest shape's box, in the skin's unit."""
        return float(np.linalg.norm(np.ptp(self.skin.rig.mesh.points, axis=0)))

    def surface(self) -> Floats:
        """Return the points (F, 3) that the page draws, in the skin's unit and axes."""
        points: Floats = np.array(self.page.evaluate(_SURFACE)) @ self._rotation / self._metres
        return points

    def error(self) -> float:
        """Return the largest distance of the page's points from those of `skin.pose`, over the diagonal of the box."""
        gaps = np.linalg.norm(self.surface() - self.skin.pose(self.pose())[0], axis=1)
        return float(gaps.max()) / self.box

    def pose(self) -> ps.Pose:
        """Return the pose that the page has, in the skin's unit."""
        joints = np.array(self.page.evaluate("posespace.stage.posing.pose('now').joints"))
        count = len(self.skin.rig.skeleton)
        rotations, translations = joints[: 4 * count].reshape(-1, 4), joints[4 * count :].reshape(-1, 3)
        return ps.Pose(rotations, translations / self._metres)

    def camera(self) -> Floats:
        """Return the position (3,) of the camera."""
        return np.array(self.page.evaluate("posespace.stage.camera.position.toArray()"))

    def handle(self, point: int) -> tuple[float, float]:
        """Return the pixel of a point's handle."""
        canvas = self.page.locator("#stage").bounding_box()
        disc = self.page.locator(f"#handles circle[data-point='{point}']")
        return canvas["x"] + float(disc.get_attribute("cx")), canvas["y"] + float(disc.get_attribute("cy"))

    def beside(self) -> tuple[float, float]:
        """Return a pixel of the canvas that is far from all handles."""
        return 20.0, 20.0

    def drag(self, point: int, by: tuple[float, float], keys: tuple[str, ...] = (), drop: bool = True) -> None:
        """Drag a point's handle by some pixels, with keys held; without `drop` the button stays down."""
        x, y = self.handle(point)
        mouse = self.page.mouse
        mouse.move(x, y)
        for key in keys:
            self.page.keyboard.down(key)
        mouse.down()
        mouse.move(x + by[0], y + by[1], steps=5)
        if drop:
            mouse.up()
        for key in keys:
            self.page.keyboard.up(key)
        self.frame()

    def touch(self, kind: str, *fingers: tuple[float, float]) -> None:
        """Let fingers start, move or end ("touchStart", "touchMove", "touchEnd") at pixels: those that stay down."""
        assert self._fingers is not None
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(fingers)]
        self._fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self.frame()
