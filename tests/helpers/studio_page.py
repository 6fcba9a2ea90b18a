"""The studio's page in a real browser: what a user does on it, and what it shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.studio_client import Process

from posespace.check import Floats

POINTS = """() => {
  const { meshes, scene, skins } = posespace.stage;
  scene.updateMatrixWorld(true);
  for (const skin of skins) skin.update();
  const found = [];
  for (const mesh of meshes) {
    mesh.updateWorldMatrix(true, false);
    const { count } = mesh.geometry.getAttribute("position");
    const place = mesh.position.clone();
    for (let k = 0; k < count; k++) found.push(...mesh.localToWorld(mesh.getVertexPosition(k, place)).toArray());
  }
  return found;
}"""


class StudioPage:
    """A page of a studio, opened at its address."""

    def __init__(self, chromium: Any, process: Process, width: int = 1280, height: int = 800) -> None:
        self.page = chromium.new_page(viewport={"width": width, "height": height})
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(process.address)
        self.page.wait_for_selector("body[data-ready=yes]")

    def select(self, joint: str) -> None:
        """Select a joint by its name in the tree."""
        self.page.get_by_placeholder("find one of").fill(joint)
        self.page.locator(f'.joint-tree li[aria-label="{joint}"]').first.click()
        self.page.get_by_placeholder("find one of").fill("")

    def rotate(self, axis: str, degrees: float) -> None:
        """Bring the slider of the selected joint's axis to an angle."""
        self.page.locator(".slider", has=self.page.get_by_text(axis, exact=True)).locator("input").first.fill(
            str(degrees)
        )

    def stroke(self, by: tuple[float, float], steps: int = 8) -> None:
        """Drag with the mouse from where the selected joint is seen; in pixels."""
        x, y = self.joint_pixel()
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for step in range(1, steps + 1):
            self.page.mouse.move(x + by[0] * step / steps, y + by[1] * step / steps)
            self.page.evaluate("() => new Promise(requestAnimationFrame)")
        self.page.mouse.up()

    def joint_pixel(self) -> tuple[float, float]:
        """Return where the selected joint is seen, in pixels of the page."""
        x, y, left, top, width, height = self.page.evaluate(
            """() => {
              const { joints, picture, renderer } = posespace.stage;
              const at = joints.position(joints.selected).project(picture.camera);
              const { left, top } = renderer.domElement.getBoundingClientRect();
              return [at.x, at.y, left, top, picture.width, picture.height];
            }"""
        )
        return left + (x + 1) / 2 * width, top + (1 - y) / 2 * height

    def points(self) -> Floats:
        """Return where all vertices of the meshes are, as the player poses them."""
        return np.array(self.page.evaluate(POINTS)).reshape(-1, 3)

    def pose(self) -> dict[str, Any]:
        """Return the pose as the page sends it."""
        pose: dict[str, Any] = self.page.evaluate("() => posespace.stage.posing.pose('now')")
        return pose

    def info(self) -> dict[str, Any]:
        """Return the project as the page knows it."""
        info: dict[str, Any] = self.page.evaluate("() => posespace.project.info")
        return info

    def press(self, name: str) -> None:
        """Press a button by its words."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def wait(self, condition: str) -> None:
        """Wait until JavaScript that sees `info` and `stage` holds, and the skin on the screen is the current one."""
        # The page's policy forbids to evaluate text, so the condition is asked again and again from here.
        while not self.page.evaluate(
            f"() => {{ const {{ project, stage }} = posespace; const {{ info }} = project; return !!({condition}); }}"
        ):
            self.page.wait_for_timeout(50)
