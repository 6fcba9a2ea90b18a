"""Strokes of each brush with a real mouse on a bent arm: what a frame costs, and of it what the brush itself takes.

Chromium with graphics in software. `brush` is all that happens before a frame is drawn: rays, radius queries, moving,
normals, refitting, tinting. Only frames in which the pointer moved count.
Run: uv run python benchmarks/strokes.py [--rings 200 --sides 70] [--json]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from timing import show

import posespace as ps

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.browsing import opened_chromium
from helpers.sculpt_page import PLAYER, SculptPage

GRAPHICS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
STEPS = 40
BRUSHES = {"grab": "g", "smooth": "s", "inflate": "i", "flatten": "t"}
WATCH = """() => {
    const { stage, sculpt } = posespace;
    const [update, draw] = [sculpt.update.bind(sculpt), stage.draw.bind(stage)];
    const gl = stage.renderer.getContext();
    const pixel = new Uint8Array(4);
    window.times = { brush: [], frame: [] };
    let start = 0;
    let touched = false;
    sculpt.update = () => {
        touched = sculpt.session.samples.length > 0;
        start = performance.now();
        update();
        if (touched) window.times.brush.push(performance.now() - start);
    };
    stage.draw = () => {
        draw();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        if (touched) window.times.frame.push(performance.now() - start);
    };
}"""
TIMES = "() => { const { times } = window; window.times = { brush: [], frame: [] }; return times; }"


def measured(page: SculptPage, brush: str, radius: int) -> dict[str, Any]:
    """The figures of one brush at a radius in pixels."""
    page.press(BRUSHES[brush])
    page.page.evaluate("(radius) => { posespace.sculpt.settings.radius = radius; }", radius)
    points = page.points()
    x, y = page.pixel(points[page.seen(points, -0.5)])
    mouse = page.page.mouse
    mouse.move(x - 100, y)
    page.frame()
    mouse.down()
    page.page.evaluate(TIMES)
    mouse.move(x + 200, y + 5, steps=STEPS)
    times = page.page.evaluate(TIMES)
    mouse.up()
    page.press("Control+z")
    page.frame()
    felt = page.page.evaluate("posespace.sculpt.session.clay.tinted.length")
    return {
        "brush": brush,
        "radius, px": radius,
        "vertices felt": felt,
        "frames": len(times["frame"]),
        "brush, ms": round(float(np.median(times["brush"])), 2),
        "brush at most, ms": round(max(times["brush"]), 2),
        "frame at least, ms": round(min(times["frame"]), 1),
        "frame, ms": round(float(np.median(times["frame"])), 1),
        "frame at most, ms": round(max(times["frame"]), 1),
    }


def main() -> None:
    """Measure each brush."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rings", type=int, default=200)
    parser.add_argument("--sides", type=int, default=70)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    train, _ = ps.datasets.bending_arm(rings=options.rings, sides=options.sides)
    skin = ps.EigenSkin(components=2, normals="shared").fit(train)
    pose = next(pose for pose, name in zip(train.motion, train.motion.names, strict=True) if "bend 72" in name)
    bundler = [PLAYER / "node_modules" / ".bin" / "esbuild", "--bundle", "--minify", "--format=iife"]
    words = [*bundler, PLAYER / "tests" / "sculpt_page.ts"]
    script = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    with opened_chromium(str(shutil.which("chromium")), *GRAPHICS) as chromium:
        page = SculptPage(chromium, script, skin, pose)
        page.press("f")
        page.begin()
        page.page.evaluate(WATCH)
        rows = [measured(page, brush, radius) for brush in BRUSHES for radius in (60, 150)]
        page.close()
    show(f"strokes on {len(skin.rig.mesh.points)} vertices, 1280 x 800", rows, options.json)


if __name__ == "__main__":
    main()
