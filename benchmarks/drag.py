"""Control points dragged on the page: how soon it is drawn, what a frame of a drag costs, and how exact it is.

Chromium with graphics in software. Run: uv run python benchmarks/drag.py hand.skin [more.skin ...] [--json]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright
from timing import show

import posespace as ps

GRAPHICS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
FRAMES, OPENED = 25, 3
BY = (37.0, 22.0)
COSTS = """(frames) => {
    const { stage } = posespace;
    const [skin] = stage.skins;
    const gl = stage.renderer.getContext();
    const times = { drive: [], surface: [], frame: [] };
    for (let k = 0; k < frames; k++) {
        const { node } = skin.points[k % skin.points.length];
        node.position.x += 0.001;
        const start = performance.now();
        node.updateMatrixWorld(true);
        skin.driven.follow();
        const driven = performance.now();
        skin.update();
        const posed = performance.now();
        stage.draw();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        times.drive.push(driven - start);
        times.surface.push(posed - driven);
        times.frame.push(performance.now() - start);
    }
    const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
    stage.posing.rest();
    return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}"""
POSED = """() => {
    const { stage } = posespace;
    stage.draw();
    const [mesh] = stage.skins[0].meshes;
    const { position } = mesh.geometry.attributes;
    const point = stage.camera.position.clone();
    const points = Array.from({ length: position.count }, (_, k) =>
        mesh.localToWorld(mesh.getVertexPosition(k, point)).toArray());
    return { points, joints: stage.posing.pose("now").joints };
}"""


def measured(chromium: Browser, file: Path, folder: Path) -> dict[str, Any]:
    """The figures of one skin's page."""
    skin, path = ps.Skin.load(file), folder / f"{file.stem}.html"
    ps.export(skin, path)
    opened = []
    for _ in range(OPENED):
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(600_000)
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        opened.append(page.evaluate("performance.getEntriesByName('first frame')[0].startTime") / 1000)
    costs = page.evaluate(COSTS, FRAMES)
    return {
        "skin": file.stem,
        "vertices": f"{len(skin.rig.mesh.points)} / {len(skin.mesh.points)}",
        "bones": skin.bones.binding(skin.rig).bone_count,
        "MB": round(path.stat().st_size / 1e6, 1),
        "first frame, s": round(float(np.median(opened)), 1),
        **{f"{name}, ms": round(value, 1) for name, value in costs.items()},
        "error, of the box": f"{_error(page, skin):.1e}",
    }


def _error(page: Any, skin: ps.Skin) -> float:
    """The largest distance from `skin.pose` over the diagonal of the box, after a point was dragged by the mouse."""
    page.wait_for_timeout(500)
    disc = page.locator("#handles circle:not(.back):not(.hidden)").first
    x, y = float(disc.get_attribute("cx")), float(disc.get_attribute("cy"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + BY[0], y + BY[1], steps=5)
    page.mouse.up()
    drawn = page.evaluate(POSED)
    count, unit = len(skin.rig.skeleton), skin.rig.mesh.unit
    joints = np.array(drawn["joints"])
    pose = ps.Pose(joints[: 4 * count].reshape(-1, 4), joints[4 * count :].reshape(-1, 3) / unit)
    assert pose.translations.any()
    gaps = np.linalg.norm(np.array(drawn["points"]) / unit - skin.pose(pose)[0], axis=1)
    return float(gaps.max()) / float(np.linalg.norm(np.ptp(skin.rig.mesh.points, axis=0)))


def main() -> None:
    """Measure each skin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("skins", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=GRAPHICS)
        rows = [measured(chromium, file, Path(folder)) for file in options.skins]
    show("control points dragged on the page", rows, options.json)


if __name__ == "__main__":
    main()
