"""Every method in every player: how far points and normals are from `skin.pose`.

Points as the largest distance of a vertex, of the box's diagonal; normals in degrees, the 99.9th percentile. Programs
without drivers (three.js, Blender) show the exported clip, without detail, at its keys. Run:
uv run python benchmarks/every_player.py [--json]. It needs Chromium, Node, `npm ci --ignore-scripts` in the folder
player, a Vulkan driver, and uv to run Blender with.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from browser import GRAPHICS, PLAYER, bundled, poses_of
from playwright.sync_api import Browser, sync_playwright
from timing import show, wants_json

import posespace as ps
from posespace.check import Floats
from posespace.geometry.subdivision import fine_vertex_count
from posespace.poses.control_points import motion_from_shapes

Shapes = Iterable[tuple[Any, Any]]

POSES, LEVELS, GAP = 6, 2, 0.4
WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
BLENDER = ["uv", "run", "--no-project", "--python", "3.11", "--with", "bpy==4.2.*", "python"]
HELPER = Path(__file__).parents[1] / "tests" / "helpers" / "blender_play.py"


def skins() -> dict[str, tuple[ps.Skin, ps.Motion]]:
    """A skin of each method and unseen poses of it."""
    train, unseen = ps.datasets.bending_arm(rings=16, sides=9)
    methods = {
        "PSD": ps.PSD(normals="shared"),
        "EigenSkin": ps.EigenSkin(normals="shared"),
        "Muscles": ps.Muscles(signals=3, normals="shared"),
    }
    fitted = {name: (method.fit(train), unseen.motion[:POSES]) for name, method in methods.items()}
    points = ps.ControlPoints(points=8, bones=20).fit(_wrinkled(train[np.linspace(0, 29, 14).astype(int)]))
    return fitted | {
        "control points, detail": (points, motion_from_shapes(unseen, points.rig, points.bones.points)[:POSES])
    }


def _wrinkled(examples: ps.Examples) -> ps.Examples:
    """Shapes of a mesh without joints, with heights that depend on the shape."""
    mesh, rng = examples.rig.mesh, np.random.default_rng(3)
    waves = np.sin(40 * rng.random((3, fine_vertex_count(mesh.triangles, len(mesh.points), LEVELS))))
    amounts = np.array([[1, np.sin(k), np.cos(2 * k)] for k in range(len(examples))])
    rig = ps.Rig.from_mesh(mesh)
    still = ps.Motion(np.tile(rig.rest.rotations, (len(examples), 1, 1)))
    bare = ps.Examples.from_shapes(rig, still, np.stack([shape for _, shape in examples]))
    return replace(bare, heights=0.004 * amounts @ waves, levels=LEVELS)


def cell(wanted: Shapes, played: Shapes, diagonal: float) -> str:
    """The errors of points and normals; normals that a player does not give are left out."""
    apart, turned = 0.0, []
    for (points, normals), (played_points, played_normals) in zip(wanted, played, strict=True):
        apart = max(apart, float(np.linalg.norm(played_points - points, axis=1).max()) / diagonal)
        if played_normals is not None:
            units = played_normals / np.linalg.norm(played_normals, axis=1, keepdims=True)
            turned.append(np.degrees(np.arccos(np.clip((units * normals).sum(axis=1), -1, 1))))
    return f"{apart:.0e}" + (f", {np.percentile(turned, 99.9):.2f}°" if turned else "")


def in_browser(chromium: Browser, call: str, script: str, file: Path, skin: ps.Skin, motion: ps.Motion) -> Shapes:
    """The shapes that the player draws by `call`, a function of a script of player/tests."""
    page = chromium.new_page()
    page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto("http://localhost/")
    page.add_script_tag(content=bundled(script, file.parent))
    text = base64.b64encode(file.read_bytes()).decode()
    made = page.evaluate(f"([file, poses]) => {call}", [text, poses_of(motion, skin.rig.mesh.unit)])
    page.close()
    for capture in made["captures"]:
        points = np.reshape(capture["points"], (-1, 3)) / skin.rig.mesh.unit
        yield points, np.reshape(capture["normals"], (-1, 3))


def without_drivers(command: list[Any], file: Path, skin: ps.Skin) -> Shapes:
    """The points that another program shows of the exported clip at its keys."""
    job = {"file": str(file), "times": [GAP * k for k in range(POSES)], "out": str(file.with_suffix(".positions"))}
    jobs = file.with_suffix(".json")
    jobs.write_text(json.dumps([job]))
    subprocess.run([*command, jobs], check=True, capture_output=True)
    frames: Floats = np.fromfile(job["out"], np.float32).reshape(POSES, -1, 3)
    return ((points / skin.rig.mesh.unit, None) for points in frames)


def row(chromium: Browser, name: str, skin: ps.Skin, motion: ps.Motion, folder: Path) -> dict[str, str]:
    """A method's errors in each player."""
    file = folder / "skin.glb"
    clip = replace(motion, times=GAP * np.arange(len(motion)))
    ps.export(skin, file, clip, warn=lambda _: None)
    coarse = replace(skin, detail=None)
    # Browsers play normals only where a file or a posed surface has them: all methods here do.
    players: dict[str, Callable[[], Shapes]] = {
        "CPU": lambda: map(skin.compile(), motion),
        "WGSL": lambda: map(skin.compile("gpu"), motion),
        "WebGL": lambda: in_browser(chromium, "capture(file, poses)", "capture.ts", file, skin, motion),
        "WebGPU": lambda: in_browser(
            chromium, "captureNodes(file, poses, false)", "capture_webgpu.ts", file, skin, motion
        ),
        "GLB read back": lambda: map(ps.Skin.load(file).pose, motion),
    }
    shapes = [skin.pose(pose) for pose in motion]
    cells = {player: cell(shapes, play(), skin.rig.mesh.diagonal) for player, play in players.items()}
    shapes = [coarse.pose(pose) for pose in motion]
    programs = {"three.js, no drivers": ["node", PLAYER / "tests" / "play.mjs"], "Blender": [*BLENDER, HELPER]}
    for program, command in programs.items():
        cells[program] = cell(shapes, without_drivers(command, file, skin), skin.rig.mesh.diagonal)
    return {"method": name, **cells}


def main() -> None:
    as_json = wants_json()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=[*GRAPHICS, *WEBGPU])
        rows = [row(chromium, method, *made, Path(name)) for method, made in skins().items()]
        chromium.close()
    show("largest error of points, of the box's diagonal, and of normals", rows, as_json)


if __name__ == "__main__":
    main()
