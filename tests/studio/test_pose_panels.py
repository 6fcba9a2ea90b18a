"""The panels of the pose space in a real browser: a sculpt's influence with its radius, and the map of poses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.studio_client import Process, client, pose_of, studio
from helpers.studio_page import StudioPage

import posespace as ps

FOREARM, HAND = 1, 2
POSES = {
    "half": (FOREARM, (0.0, 0.0, np.sin(0.3), np.cos(0.3))),
    "whole": (FOREARM, (0.0, 0.0, np.sin(0.6), np.cos(0.6))),
    "twist": (HAND, (np.sin(0.4), 0.0, 0.0, np.cos(0.4))),
}
_IN_PAGE = (
    "async (name) => posespace.project.link.request('influence', { name, pose: posespace.stage.posing.pose('') })"
)
_FRAMES = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def define(process: Process, store: Path) -> None:
    """Add three sculpts to those of the store."""
    rest = ps.Examples.open(store).rig.rest.rotations
    with client(process) as program:
        for name, (joint, rotation) in POSES.items():
            pose = pose_of(rest, joint, rotation)
            points = program.request("surface", pose=pose)[1]["points"].copy()
            points[len(points) // 3 : len(points) // 2, 1] += 0.05 * np.ptp(points)
            program.request("define", {"points": points}, name=name, pose=pose)


@pytest.fixture
def opened(store: Path, chromium: Any) -> Iterator[StudioPage]:
    with studio(store) as process:
        define(process, store)
        page = StudioPage(chromium, process)
        page.wait("posespace.project.mayEdit && info.sculpts.length === 5")
        current(page)
        yield page
        assert page.said == []
        page.page.close()


def current(page: StudioPage) -> None:
    """Wait until the page shows the current skin, and has drawn it."""
    page.wait("document.body.dataset.skin === `${info.revision}`")
    page.page.evaluate(_FRAMES)


def choose(page: StudioPage, name: str) -> None:
    page.press(name)
    page.wait(f"project.chosen === '{name}' && stage.posing.source.kind === 'listed'")
    page.page.get_by_text(f"influence of ‘{name}’").wait_for()
    page.page.locator(".plot .curve").wait_for()
    page.page.evaluate(_FRAMES)


def rotate(page: StudioPage, joint: int, angles: tuple[float, float, float]) -> None:
    """Rotate a joint as its slider does."""
    page.page.evaluate(
        """([joint, angles]) => {
          const { joints, posing } = posespace.stage;
          posing.edit(() => { joints.begin(); joints.rotate(joint, angles); joints.moved(); });
        }""",
        [joint, list(angles)],
    )
    page.page.evaluate(_FRAMES)


def now(page: StudioPage) -> tuple[float, float]:
    """Return what the page says of the pose now: degrees from rest, and the weight."""
    words = page.page.locator(".influence .now.figures").text_content()
    degrees, weight = re.findall(r"-?[\d.]+", words)
    return float(degrees), float(weight)


def cross(page: StudioPage) -> tuple[float, float]:
    """Return the pixel of the cross on the page."""
    box = page.page.locator(".map .front .now").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def map_box(page: StudioPage) -> dict[str, float]:
    picture = page.page.locator(".map svg").first
    picture.scroll_into_view_if_needed()
    box: dict[str, float] = picture.bounding_box()
    return box


def picks_layer(page: StudioPage, words: str) -> None:
    page.page.get_by_label("layer of the map").select_option(label=words)
    page.page.get_by_text(f"→ {words} bends").wait_for()
    page.page.evaluate(_FRAMES)


def test_the_marker_is_where_the_pose_is_and_follows_it(opened: StudioPage) -> None:
    choose(opened, "whole")
    assert now(opened) == pytest.approx((1.2 * 180 / np.pi, 1.0), abs=0.6)
    seen = []
    for angle in (0.9, 0.4, 1.5):
        rotate(opened, FOREARM, (0.0, 0.0, angle))
        along, weight = opened.page.evaluate(_IN_PAGE, "whole")["ok"]["now"]
        shown = now(opened)
        assert shown[0] == pytest.approx(np.degrees(along), abs=0.6)
        assert shown[1] == pytest.approx(weight, abs=0.006)
        assert along == pytest.approx(angle, abs=1e-5)
        seen.append(float(opened.page.locator(".plot line.now").get_attribute("x1")))
    assert seen[1] < seen[0] < seen[2]
    # A sculpt stays chosen while the pose goes elsewhere, and at rest it does nothing.
    opened.press("rest pose")
    opened.page.evaluate(_FRAMES)
    assert now(opened) == (0.0, 0.0)
    titles = opened.page.locator(".plot title").all_text_contents()
    assert "whole: 69°" in titles
    assert "half: 34°" in titles


def test_dragging_the_radius_changes_the_skin_and_can_be_undone(opened: StudioPage) -> None:
    choose(opened, "whole")
    rotate(opened, FOREARM, (0.0, 0.0, 0.9))
    before, curve = opened.points(), opened.page.locator(".plot .curve").get_attribute("d")
    slider = opened.page.get_by_label("radius of the sculpt")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    start = (slider.input_value(), slider.get_attribute("max"))
    x, y = box["x"] + box["width"] * float(start[0]) / float(start[1]), box["y"] + box["height"] / 2
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 0.05 * box["width"], y, steps=5)
    # Nothing is sent before the end of the drag.
    assert opened.info()["sculpts"][3]["radius"] is None
    opened.page.mouse.up()
    opened.wait("info.sculpts[3].radius !== null")
    current(opened)
    radius = opened.info()["sculpts"][3]["radius"]
    assert float(opened.page.locator(".radius-row input").input_value()) == pytest.approx(np.degrees(radius), rel=0.01)
    assert np.abs(opened.points() - before).max() > 1e-4
    assert opened.page.locator(".plot .curve").get_attribute("d") != curve
    opened.page.locator("#stage").focus()
    opened.page.keyboard.press("u")
    opened.wait("info.sculpts[3].radius === null")
    current(opened)
    np.testing.assert_allclose(opened.points(), before, atol=1e-6)


def test_radii_are_typed_in_degrees_and_letters_are_no_keys_there(opened: StudioPage) -> None:
    choose(opened, "whole")
    angles = opened.pose()
    field = opened.page.locator(".radius-row input")
    field.focus()
    # "u" undoes and "x" resets a joint elsewhere.
    for key in "2xu5":
        opened.page.keyboard.press(key)
    opened.page.keyboard.press("Enter")
    opened.wait("info.sculpts[3].radius !== null")
    assert opened.info()["sculpts"][3]["radius"] == pytest.approx(np.radians(25))
    assert opened.pose() == angles
    current(opened)
    opened.press("auto")
    opened.wait("info.sculpts[3].radius === null")
    opened.page.get_by_text("radii of the layer").click()
    opened.page.locator(".control-radii input").fill("40")
    opened.page.keyboard.press("Enter")
    opened.wait("info.radii.forearm")
    assert opened.info()["radii"]["forearm"] == pytest.approx(np.radians(40))


def test_a_click_on_the_map_poses_the_skin_within_its_limits_and_the_cross_is_there(opened: StudioPage) -> None:
    choose(opened, "whole")
    opened.press("rest pose")
    picks_layer(opened, "forearm")
    box = map_box(opened)
    rest = opened.points()
    assert cross(opened)[0] == pytest.approx(box["x"] + 34 * box["width"] / 268, abs=1.5)
    at = (box["x"] + 184 * box["width"] / 268, cross(opened)[1])
    opened.page.mouse.click(*at)
    opened.wait("stage.posing.source.kind === 'hand' && stage.posing.canUndo")
    opened.page.evaluate(_FRAMES)
    assert cross(opened) == pytest.approx(at, abs=1.5)
    assert np.abs(opened.points() - rest).max() > 0.01
    # Three quarters of the way from rest to the farther of the two sculpts.
    angle = opened.page.evaluate(f"() => posespace.stage.joints.measure({FOREARM})[2]")
    assert angle == pytest.approx(0.9, abs=0.02)
    # A drag is one step, and the elbow does not bend backwards.
    opened.page.mouse.move(*at)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 3, at[1], steps=8)
    opened.page.mouse.up()
    opened.wait(f"Math.abs(stage.joints.measure({FOREARM})[2]) < 1e-6")
    opened.wait("stage.posing.poseBefore === null")
    undo(opened)
    assert opened.page.evaluate(f"() => posespace.stage.joints.measure({FOREARM})[2]") == pytest.approx(angle, abs=1e-6)
    undo(opened)
    np.testing.assert_allclose(opened.points(), rest, atol=1e-6)


def undo(page: StudioPage) -> None:
    """Undo a step of posing."""
    page.page.locator("#stage").focus()
    page.page.keyboard.press("Control+z")
    page.page.evaluate(_FRAMES)


def test_dots_of_the_map_are_buttons_that_go_to_their_sculpts(opened: StudioPage) -> None:
    choose(opened, "whole")
    opened.page.evaluate("() => posespace.project.do('mute', { name: 'half', muted: true })")
    dots = opened.page.locator(".map button")
    opened.page.get_by_label("half, muted").wait_for()
    # The map is that of the chosen sculpt's layer.
    assert sorted(dots.evaluate_all("all => all.map((dot) => dot.title)")) == ["half", "whole"]
    dot = opened.page.get_by_label("half, muted")
    dot.focus()
    assert opened.page.locator(".map-name").text_content() == "half, muted"
    opened.page.keyboard.press("Enter")
    opened.wait("project.chosen === 'half'")
    opened.page.get_by_text("it is muted").wait_for()
    opened.page.evaluate(_FRAMES)
    assert dot.get_attribute("aria-pressed") == "true"
    box = dot.bounding_box()
    assert cross(opened) == pytest.approx((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), abs=1.5)
    choose(opened, "twist")
    opened.page.get_by_text("→ hand").wait_for()
    assert dots.evaluate_all("all => all.map((dot) => dot.title)") == ["twist"]
