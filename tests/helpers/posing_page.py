"""A page of a skeleton in a browser: where its joints are in the picture, how they are rotated, and a mouse on them."""

from __future__ import annotations

import numpy as np
from helpers.drag_page import DragPage

from posespace.check import Floats

_PIXEL = """(name) => {
    const { joints, picture } = posespace.stage;
    const { x, y } = joints.position(joints.tree.names.indexOf(name)).project(picture.camera);
    return [((x + 1) * picture.width) / 2, ((1 - y) * picture.height) / 2];
}"""
_ANGLES = "posespace.stage.joints.bones.map((_, joint) => posespace.stage.joints.measure(joint))"
_SELECTED = "posespace.stage.joints.tree.names[posespace.stage.joints.selected] ?? ''"
_CURSOR = "document.getElementById('stage').style.cursor"


class PosingPage(DragPage):
    """An opened page whose skin has joints."""

    def joint(self, name: str) -> tuple[float, float]:
        """Return the pixel of a joint."""
        x, y = self.page.evaluate(_PIXEL, name)
        return float(x), float(y)

    def beyond(self, name: str, above: str) -> tuple[float, float]:
        """Return a pixel on the skin of the last joint of a chain, a little beyond the joint."""
        last, before = np.array(self.joint(name)), np.array(self.joint(above))
        x, y = last + 0.3 * (last - before)
        return float(x), float(y)

    def angles(self) -> Floats:
        """Return the angles (J, 3) of all joints from rest, in radians."""
        return np.array(self.page.evaluate(_ANGLES))

    @property
    def selected(self) -> str:
        """The name of the selected joint; empty: none is."""
        return str(self.page.evaluate(_SELECTED))

    def select(self, name: str) -> None:
        """Click a joint's row."""
        self.page.locator(f".joint-tree li[aria-label='{name}']").click()
        self.frame()

    def sweep(self, start: tuple[float, float], by: tuple[float, float], drop: bool = True) -> None:
        """Drag from a pixel by some pixels; without `drop` the button stays down."""
        mouse = self.page.mouse
        mouse.move(*start)
        self.frame()
        mouse.down()
        mouse.move(start[0] + by[0], start[1] + by[1], steps=6)
        if drop:
            mouse.up()
        self.frame()

    def ring(self) -> tuple[float, float]:
        """Return a pixel of a ring of the selected joint."""
        self.frame()
        x, y = self.joint(self.selected)
        for radius in range(24, 120, 3):
            self.page.mouse.move(x - radius, y)
            if self.page.evaluate(_CURSOR) == "grab":
                return x - radius, y
        raise AssertionError("no ring to the left of the joint")
