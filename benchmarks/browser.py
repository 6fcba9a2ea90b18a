"""The player in a browser: its packed shader against three.js's own morph targets, and the demo's page.

Both draw the same skin, the built-in hand of 28k vertices with normals, in the same page, taking turns; graphics are in
software. Run: uv run python benchmarks/browser.py [--json] [--pictures FOLDER]. It needs Chromium, Node and
`npm ci --ignore-scripts` in the folder player.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright
from timing import show

import posespace as ps
from posespace.demo.story import clip

PLAYER = Path(__file__).parents[1] / "player"
GRAPHICS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE, ROUNDS, FRAMES, OPENED = 512, 7, 3, 5
SCREENS = {
    "page.png": (1280, 800, "light"),
    "page-dark.png": (1280, 800, "dark"),
    "page-phone.png": (390, 844, "light"),
}
POSE = 4
"""The pose of the list that is shown in pictures."""
SHADOW = """([rounds, frames]) => {
    const { stage } = posespace;
    const gl = stage.renderer.getContext();
    const times = { without: [], with: [] };
    stage.posing.rest();
    for (let round = 0; round <= rounds; round++) {
        for (const kind of ["without", "with"]) {
            stage.ground.shown = kind === "with";
            const start = performance.now();
            for (let k = 0; k < frames; k++) {
                stage.draw();
                gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
            }
            // The first round builds the shaders.
            if (round) times[kind].push((performance.now() - start) / frames);
        }
    }
    return times;
}"""


def bundled(script: str, folder: Path) -> str:
    """A script of player/tests with all it imports."""
    out = folder / "script.js"
    esbuild = PLAYER / "node_modules" / ".bin" / "esbuild"
    words = [esbuild, PLAYER / "tests" / script, "--bundle", "--format=iife", f"--outfile={out}"]
    subprocess.run(words, check=True, capture_output=True)
    return out.read_text()


def poses_of(motion: ps.Motion, unit: float) -> list[dict[str, Any]]:
    return [
        {"joints": [*pose.rotations.ravel().tolist(), *(unit * pose.translations).ravel().tolist()], "controls": {}}
        for pose in motion
    ]


def race(chromium: Browser, skin: ps.Skin, motion: ps.Motion, folder: Path) -> dict[str, Any]:
    """Times, bytes and pictures of the rivals."""
    ps.export(skin, folder / "hand.glb")
    page = chromium.new_page()
    page.add_script_tag(content=bundled("race.ts", folder))
    file = base64.b64encode((folder / "hand.glb").read_bytes()).decode()
    words = "(given) => race(...given)"
    found: dict[str, Any] = page.evaluate(words, [file, poses_of(motion, skin.rig.mesh.unit), SIZE, ROUNDS, FRAMES])
    page.close()
    return found


def rows_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    middle = {name: float(np.median(times)) for name, times in found["times"].items()}
    return [
        {
            "drawn by": name,
            "ms per frame": round(time, 2),
            "times as long as packed": round(time / middle["packed"], 2),
            "texture MB": round(found["bytes"][name] / 1e6, 2),
            "times packed's bytes": round(found["bytes"][name] / found["bytes"]["packed"], 2),
        }
        for name, time in middle.items()
    ]


def first_frames(chromium: Browser, file: Path) -> list[float]:
    """Seconds from opening a page to its first frame."""
    found = []
    for _ in range(OPENED):
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.goto(file.as_uri(), wait_until="commit")
        page.wait_for_selector("body[data-ready=yes]")
        found.append(page.evaluate("performance.getEntriesByName('first frame')[0].startTime / 1000"))
        page.close()
    return found


def shadow_cost(chromium: Browser, file: Path) -> dict[str, float]:
    """Milliseconds per frame of a page without the shadow on the ground and with it, which take turns."""
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    times = page.evaluate(SHADOW, [ROUNDS, FRAMES])
    page.close()
    return {f"ms {kind} shadow": round(float(np.median(found)), 1) for kind, found in times.items()}


def page_of(chromium: Browser, folder: Path, pictures: Path | None) -> dict[str, Any]:
    """The page of the demo's hand: its size, and how long it takes to its first frame."""
    single, unseen = ps.datasets.hand()
    train = single.joined(ps.datasets.hand_together())
    skin, file = ps.EigenSkin(normals="shared").fit(train), folder / "hand.html"
    ps.export(skin, file, clip(train.rig, unseen.motion), examples=unseen)
    times = first_frames(chromium, file)
    if pictures:
        shoot(chromium, file, pictures)
    seconds = {
        "MB": round(file.stat().st_size / 1e6, 2),
        "seconds to the first frame": round(float(np.median(times)), 2),
    }
    return seconds | shadow_cost(chromium, file)


def shoot(chromium: Browser, file: Path, pictures: Path) -> None:
    """Pictures of the page on a screen, split and in colours of errors; dark, with a read-out; and on a phone."""
    for name, (width, height, scheme) in SCREENS.items():
        page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        page.select_option("select >> nth=1", index=POSE)
        page.keyboard.press("f")
        if scheme == "light":
            page.keyboard.press("3")
            page.keyboard.press("h")
        else:
            page.keyboard.press("i")
            page.mouse.move(0.44 * width, 0.42 * height)
            page.wait_for_selector(".readout:visible")
        page.evaluate("posespace.stage.draw()")
        page.screenshot(path=pictures / name)
        page.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line per table")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of the page and of what the rivals drew")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=GRAPHICS)
        show("the page of the demo's hand", [page_of(chromium, folder, given.pictures)], given.json)
        train, unseen = ps.datasets.hand(2)
        skin = ps.EigenSkin(normals="shared").fit(train)
        for bits in (16, 8):
            found = race(chromium, skin.packed(bits), unseen.motion[:4], folder)
            title = f"{len(skin.rig.mesh.points)} vertices, {found['targets']} targets with normals, {bits} bits"
            show(f"{title}, {SIZE} x {SIZE} pixels", rows_of(found), given.json)
            show("drive in JavaScript", [{"ms": round(float(np.median(found["drives"])), 4)}], given.json)
            for rival, picture in found["pictures"].items() if given.pictures else ():
                place = given.pictures / f"{rival.replace(' ', '-')}-{bits}.png"
                place.write_bytes(base64.b64decode(picture.split(",")[1]))
        chromium.close()


if __name__ == "__main__":
    main()
