"""A page to sculpt on in a browser; its server is a few functions here."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from helpers.played import exported, poses_of

import posespace as ps
from posespace.check import Floats
from posespace.geometry.weld import weld_points

PLAYER = Path(__file__).parents[2] / "player"
_BODY = """<!doctype html><body data-view="skin"><div id="view"><canvas id="stage" tabindex="0"></canvas></div>
<div id="side"><main id="panel"></main></div>"""
_FRAME = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
_PIXEL = """(position) => {
    const { stage } = posespace;
    const { width, height } = stage.picture;
    const { x, y } = stage.camera.position.clone().fromArray(position).project(stage.camera);
    return [((x + 1) * width) / 2, ((1 - y) * height) / 2];
}"""
_POINTS = "() => [...(posespace.sculpt.session?.sculpting.points() ?? [])]"


class SculptPage:
    """An opened page.

    Parameters
    ----------
    chromium : the browser
    script : the bundled `player/tests/sculpt_page.ts`
    skin : what is sculpted, in metres and with y up
    pose : where
    phone : whether it is a small screen that feels fingers
    """

    def __init__(self, chromium: Any, script: str, skin: ps.Skin, pose: ps.Pose, phone: bool = False) -> None:
        self.skin, self.start = skin, pose
        self.said, self.asked = list[str](), list[tuple[str, dict[str, Any], dict[str, Floats]]]()
        self.sculpts: dict[str, Floats] = {}
        self.file = b""
        width, height = (390, 844) if phone else (1280, 800)
        self.page = chromium.new_page(viewport={"width": width, "height": height}, has_touch=phone)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.expose_function("answer", self._answer)
        # Browsers tell all of a pointer's way only to pages of the machine itself.
        self.page.route("**/*", lambda route: route.fulfill(body=_BODY, content_type="text/html"))
        self.page.goto("http://localhost/")
        for style in ("page/page.css", "studio/sculpt.css"):
            self.page.add_style_tag(content=(PLAYER / style).read_text())
        self.page.add_script_tag(content=script)
        with tempfile.TemporaryDirectory() as folder:
            file = exported(skin, Path(folder))
        (posed,) = poses_of([pose], 1.0)
        self.page.evaluate("([file, joints]) => show(file, joints)", [file, posed["joints"]])
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

    def begin(self) -> None:
        """Press the button and wait until one sculpts."""
        self.page.click("button:text-is('start sculpt')")
        self.page.wait_for_selector("#brush", state="attached")
        self.frame()

    def press(self, key: str) -> None:
        """Press a key on the canvas."""
        self.page.focus("#stage")
        self.page.keyboard.press(key)

    def points(self) -> Floats:
        """Return the points (N, 3) that are sculpted."""
        return np.array(self.page.evaluate(_POINTS)).reshape(-1, 3)

    def pixel(self, position: Floats) -> tuple[float, float]:
        """Return where a position (3,) is seen."""
        x, y = self.page.evaluate(_PIXEL, [float(value) for value in position])
        return float(x), float(y)

    def seen(self, points: Floats, x: float) -> int:
        """Return the vertex at the top of the surface near a rest position along x."""
        rest = self.skin.rig.mesh.points
        near = np.flatnonzero(np.abs(rest[:, 0] - x) < 0.05)
        # The camera looks from above and the front.
        return int(near[(points[near] @ np.array([0.35, 0.45, 1.0])).argmax()])

    def drag(self, start: tuple[float, float], by: tuple[float, float], keys: tuple[str, ...] = (), **of: Any) -> None:
        """Drag by the mouse, with keys held; `button`, and `drop` False to keep it down."""
        mouse, button, drop = self.page.mouse, of.get("button", "left"), of.get("drop", True)
        mouse.move(*start)
        for key in keys:
            self.page.keyboard.down(key)
        mouse.down(button=button)
        mouse.move(start[0] + by[0], start[1] + by[1], steps=8)
        self.frame()
        if drop:
            mouse.up(button=button)
        for key in keys:
            self.page.keyboard.up(key)
        self.frame()

    def touch(self, kind: str, *fingers: tuple[float, float]) -> None:
        """Let fingers start, move or end ("touchStart", "touchMove", "touchEnd") at pixels: those that stay down."""
        assert self._fingers is not None
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(fingers)]
        self._fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self.frame()

    def requests(self, what: str) -> list[tuple[dict[str, Any], dict[str, Floats]]]:
        """Return what was asked for so far, of one kind."""
        return [(data, arrays) for asked, data, arrays in self.asked if asked == what]

    def _answer(self, what: str, data: dict[str, Any], lists: dict[str, list[float]]) -> dict[str, Any]:
        arrays = {name: np.array(numbers) for name, numbers in lists.items()}
        self.asked.append((what, data, arrays))
        return {"ok": {}, "arrays": {}, **getattr(self, f"_{what}")(data, arrays)}

    def _project(self, _data: dict[str, Any], _arrays: dict[str, Floats]) -> dict[str, Any]:
        return {"ok": {"sculpts": [{"name": name} for name in self.sculpts]}}

    def _surface(self, data: dict[str, Any], _arrays: dict[str, Floats]) -> dict[str, Any]:
        mesh, joints = self.skin.rig.mesh, np.array(data["pose"]["joints"])
        count = 4 * len(self.skin.rig.skeleton)
        pose = ps.Pose(joints[:count].reshape(-1, 4), joints[count:].reshape(-1, 3))
        weld = weld_points(mesh.points)
        arrays = {
            "points": self.skin.pose(pose)[0],
            "plain": self.skin.rig.skin(pose),
            "triangles": mesh.triangles,
            "weld": weld.first[weld.groups],
        }
        return {"arrays": {name: values.ravel().tolist() for name, values in arrays.items()}}

    def _define(self, data: dict[str, Any], arrays: dict[str, Floats]) -> dict[str, Any]:
        self.sculpts[data["name"]] = arrays["points"].reshape(-1, 3)
        return {"ok": {"did": f"added {data['name']!r}"}}

    def _draft(self, _data: dict[str, Any], _arrays: dict[str, Floats]) -> dict[str, Any]:
        return {}

    def _export(self, _data: dict[str, Any], arrays: dict[str, Floats]) -> dict[str, Any]:
        lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in arrays["points"].reshape(-1, 3)]
        return {"arrays": {"file": list("\n".join(lines).encode())}}

    def _import(self, _data: dict[str, Any], arrays: dict[str, Floats]) -> dict[str, Any]:
        text = bytes(arrays["file"].astype(np.uint8)).decode()
        return {"arrays": {"points": [float(word) for line in text.splitlines() for word in line.split()[1:]]}}
