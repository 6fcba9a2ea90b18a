"""The whole loop in a real browser: pose, sculpt, define, solve, look, mirror, undo, redo; killed and opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.studio_client import studio
from helpers.studio_page import StudioPage
from scipy.spatial import cKDTree

import posespace as ps

CASES = [
    pytest.param("humanoid-kaykit-knight/Knight.glb", "lowerarm.l", "z", -70, id="knight"),
    pytest.param(
        "hand-webxr-generic/right.glb", "index-finger-phalanx-proximal", "x", 50, id="hand", marks=pytest.mark.slow
    ),
]


def rig_pose(rig: ps.Rig, sent: dict[str, Any]) -> ps.Pose:
    """Return the pose of a rig that a page has."""
    joints = len(rig.skeleton)
    numbers = np.array(sent["joints"])
    shifts = numbers[4 * joints :].reshape(joints, 3) / rig.mesh.unit
    return ps.Pose(numbers[: 4 * joints].reshape(joints, 4), shifts, sent["controls"])


def largest_distance(page: StudioPage, skin: ps.Skin) -> float:
    """Return how far the page's vertices are from the skin's at most, of the box."""
    expected = skin.pose(rig_pose(skin.rig, page.pose()))[0] * skin.rig.mesh.unit
    distances = cKDTree(expected).query(page.points())[0]
    return float(distances.max()) / (skin.rig.mesh.diagonal * skin.rig.mesh.unit)


def define(page: StudioPage, name: str) -> None:
    """Sculpt by a stroke of the mouse, and define the result."""
    page.page.locator("#stage").focus()
    page.page.keyboard.press("n")
    page.page.get_by_role("button", name="grab").wait_for()
    page.stroke((24, -18))
    page.page.get_by_placeholder("name of the sculpt").fill(name)
    page.press("define")
    page.wait(f"info.sculpts.some((row) => row.name === '{name}')")
    page.wait("document.body.dataset.skin === `${info.revision}`")


@pytest.mark.parametrize(("file", "joint", "axis", "degrees"), CASES)
def test_pose_sculpt_define_solve_look_repeat(
    file: str, joint: str, axis: str, degrees: int, data: Path, chromium: Any, tmp_path: Path
) -> None:
    store = tmp_path / "loop.examples"
    with studio("--new", data / file, "-o", store) as process:
        page = StudioPage(chromium, process)
        page.select(joint)
        page.rotate(axis, degrees)
        define(page, "bentL")
        fitted = ps.PSD().fit(ps.Examples.open(store))
        assert len(fitted.layers) == 1
        assert largest_distance(page, fitted) < 1e-4
        plain = ps.Skin(fitted.rig)
        assert largest_distance(page, plain) > 1e-3
        page.rotate(axis, degrees // 2)
        assert largest_distance(page, fitted) < 1e-4
        assert largest_distance(page, plain) > 1e-4
        mirror_undo_redo(page)
        look(page)
        saved = page.info()["sculpts"]
        process.kill()
        page.page.close()
    reopened(store, chromium, saved, fitted)


def mirror_undo_redo(page: StudioPage) -> None:
    page.press("bentL")
    page.wait("stage.posing.source.kind === 'listed'")
    page.page.evaluate("() => posespace.project.say('')")
    page.press("mirror")
    # A single hand has no other side, which is said.
    page.wait("info.sculpts.length === 3 || project.said")
    count = len(page.info()["sculpts"])
    page.page.locator("#stage").focus()
    page.page.keyboard.press("u")
    page.wait(f"info.sculpts.length === {count - 1} && info.redo")
    page.page.keyboard.press("U")
    page.wait(f"info.sculpts.length === {count} && !info.redo")


def look(page: StudioPage) -> None:
    page.press("bentL")
    page.wait("stage.posing.source.kind === 'listed'")
    page.page.get_by_label("errors as colours").check()
    page.page.locator(".colour-bar").wait_for()
    page.press("errors at the sculpts")
    page.page.locator(".scores li").first.wait_for()
    page.press("truth")
    page.wait("stage.comparison.alone.name === 'truth'")
    page.press("skin")


def reopened(store: Path, chromium: Any, saved: list[dict[str, Any]], fitted: ps.Skin) -> None:
    with studio(store) as process:
        page = StudioPage(chromium, process)
        page.wait("info.method === 'psd'")
        page.wait("document.body.dataset.skin === `${info.revision}`")
        assert page.info()["sculpts"] == saved
        page.press("bentL")
        page.wait("stage.posing.source.kind === 'listed'")
        assert largest_distance(page, ps.PSD().fit(ps.Examples.open(store))) < 1e-4
        host = process.host
        # Nothing leaves the machine: the page asks its own server, and itself.
        assert all(url.startswith((f"http://{host}/", f"ws://{host}/", "data:", "blob:")) for url in page.asked)
        assert page.said == []
        page.page.close()
    assert len(fitted.layers) == 1


def test_two_pages_and_a_server_that_comes_back(store: Path, chromium: Any) -> None:
    with studio(store) as process:
        first, second = StudioPage(chromium, process), StudioPage(chromium, process)
        second.page.get_by_text("Another page edits this project").wait_for()
        assert second.page.get_by_role("button", name="start sculpt").is_disabled()
        first.page.close()
        second.wait("posespace.project.mayEdit")
        port = process.host.partition(":")[2]
        process.kill()
        second.page.get_by_text("connects again by itself").first.wait_for()
        second.page.close()
        assert int(port) > 0
