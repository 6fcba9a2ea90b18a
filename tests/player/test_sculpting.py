"""Sculpting in a real browser, by mouse, keys and fingers, on a bent arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.sculpt_page import PLAYER, SculptPage

import posespace as ps
from posespace.check import Floats

ELBOW, SHOULDER = 0.35, -0.5


@pytest.fixture(scope="module")
def script(bundled: Callable[..., str]) -> str:
    return bundled(PLAYER / "tests" / "sculpt_page.ts")


@pytest.fixture(scope="module")
def skin() -> ps.Skin:
    train, _ = ps.datasets.bending_arm(rings=60, sides=30)
    return ps.EigenSkin(components=2, normals="shared").fit(train)


@pytest.fixture(scope="module")
def pose() -> ps.Pose:
    train, _ = ps.datasets.bending_arm(rings=4, sides=4)
    return train.motion[train.motion.names.index("bend 72 twist 45 #18")]


@pytest.fixture(scope="module")
def opened(chromium: Any, script: str, skin: ps.Skin, pose: ps.Pose) -> Iterator[SculptPage]:
    page = SculptPage(chromium, script, skin, pose)
    page.press("f")
    yield page
    page.close()


@pytest.fixture
def page(opened: SculptPage) -> Iterator[SculptPage]:
    """The page while one sculpts with `grab`; the session is cancelled at the end."""
    opened.asked.clear()
    opened.begin()
    opened.press("g")
    opened.page.evaluate("Object.assign(posespace.sculpt.settings, { radius: 60 })")
    yield opened
    if opened.page.is_visible("button:text-is('cancel')"):
        opened.page.click("button:text-is('cancel')")
    opened.page.wait_for_selector("button:text-is('start sculpt')")


def at(page: SculptPage, x: float) -> tuple[int, tuple[float, float]]:
    """A vertex that is seen near a rest position along x, and its pixel."""
    points = page.points()
    vertex = page.seen(points, x)
    return vertex, page.pixel(points[vertex])


def moved(page: SculptPage, before: Floats) -> Floats:
    """How far each vertex is from before (N,)."""
    distances: Floats = np.linalg.norm(page.points() - before, axis=1)
    return distances


def test_the_shape_begins_as_the_skin_at_the_pose(page: SculptPage, skin: ps.Skin, pose: ps.Pose) -> None:
    assert page.points() == pytest.approx(skin.pose(pose)[0], abs=1e-6)
    assert [what for what, _, _ in page.asked] == ["surface", "surface", "project"]


def test_what_is_grabbed_follows_the_pointer(page: SculptPage) -> None:
    before = page.points()
    vertex, (x, y) = at(page, ELBOW)
    page.drag((x, y), (30, -40))
    assert page.pixel(page.points()[vertex]) == pytest.approx((x + 30, y - 40), abs=3)
    far = moved(page, before)
    assert 0.01 < (far > 0).mean() < 0.3
    assert far.argmax() == vertex


@pytest.mark.slow
@pytest.mark.parametrize(("key", "held"), [("i", ()), ("i", ("Control",)), ("t", ()), ("s", ()), ("i", ("Shift",))])
def test_each_brush_moves_what_is_below_it(page: SculptPage, key: str, held: tuple[str, ...]) -> None:
    before, normals = (
        page.points(),
        np.array(page.page.evaluate("[...posespace.sculpt.session.sculpting.surface.normals]")),
    )
    _, (x, y) = at(page, SHOULDER)
    page.press(key)
    page.drag((x - 40, y), (80, 0), held)
    far, out = moved(page, before), ((page.points() - before) * normals.reshape(-1, 3)).sum(axis=1)
    assert 0.01 < (far > 0).mean() < 0.4
    if key == "i" and "Shift" not in held:
        assert abs(out.sum()) == pytest.approx(far.sum(), rel=0.05)
        assert (out.sum() < 0) == ("Control" in held)
    else:
        assert far.max() < 0.05


def test_strokes_are_undone_and_redone_by_keys(page: SculptPage) -> None:
    before = page.points()
    _, (x, y) = at(page, ELBOW)
    page.drag((x, y), (0, -30))
    first = page.points()
    page.drag((x, y - 20), (20, 0))
    second = page.points()
    for key, wanted in [("z", first), ("z", before), ("Shift+Z", first), ("Shift+Z", second)]:
        page.press(f"Control+{key}")
        assert (page.points() == wanted).all()
    drafts = page.requests("draft")
    assert (drafts[-1][1]["points"].reshape(-1, 3) == second).all()


def test_escape_takes_back_the_stroke_that_is_made(page: SculptPage) -> None:
    before = page.points()
    page.drag(at(page, ELBOW)[1], (0, -30), drop=False)
    assert moved(page, before).max() > 0
    page.press("Escape")
    assert moved(page, before).max() == 0
    page.page.mouse.up()
    page.press("Control+z")
    assert moved(page, before).max() == 0


@pytest.mark.slow
@pytest.mark.parametrize("button", ["left", "right"])
def test_beside_the_surface_or_with_the_right_button_a_drag_is_the_cameras(page: SculptPage, button: str) -> None:
    before = page.points()
    camera = page.page.evaluate("posespace.stage.camera.position.toArray()")
    start = (40.0, 40.0) if button == "left" else at(page, SHOULDER)[1]
    page.drag(start, (40, 10), button=button)
    page.frame()
    assert page.page.evaluate("posespace.stage.camera.position.toArray()") != camera
    assert moved(page, before).max() == 0
    page.drag(start, (-40, -10), button=button)


@pytest.mark.slow
def test_radius_and_strength_are_set_by_keys_and_by_the_pointer(page: SculptPage) -> None:
    shown = page.page.locator(".sculpt .slider output")
    page.press("]")
    assert shown.nth(0).text_content() == "69 px"
    page.press("[")
    assert shown.nth(0).text_content() == "60 px"
    mouse = page.page.mouse
    mouse.move(400, 300)
    page.press("f")
    mouse.move(450, 300)
    page.frame()
    assert shown.nth(0).text_content() == "110 px"
    page.press("Escape")
    assert shown.nth(0).text_content() == "60 px"
    page.press("i")
    page.press("Shift+F")
    mouse.move(480, 300)
    before = page.points()
    mouse.down()
    mouse.up()
    assert shown.nth(1).text_content() == "75 %"
    mouse.move(500, 300)
    assert shown.nth(1).text_content() == "75 %"
    assert moved(page, before).max() == 0


@pytest.mark.slow
def test_a_ring_and_a_tint_show_what_the_brush_covers(page: SculptPage) -> None:
    vertex, (x, y) = at(page, SHOULDER)
    page.page.mouse.move(x, y)
    page.page.wait_for_selector("#brush:not(.hidden)")
    box = page.page.locator("#brush path").first.bounding_box()
    assert (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) == pytest.approx((x, y), abs=6)
    assert box["width"] <= 2 * 60 + 8
    felt = page.page.evaluate("[...posespace.sculpt.session.clay.tinted]")
    assert vertex in felt
    page.page.mouse.move(20, 20)
    page.page.wait_for_selector("#brush.hidden", state="attached")


def test_the_pose_stays_while_one_sculpts(page: SculptPage) -> None:
    joints = "posespace.stage.posing.pose('now').joints"
    before = page.page.evaluate(joints)
    page.press("r")
    page.page.wait_for_function("document.querySelector('.sculpt .status').textContent.includes('pose stays')")
    assert page.page.evaluate(joints) == pytest.approx(before, abs=1e-6)


def test_a_shape_is_defined_under_a_name_and_the_skin_is_seen_again(page: SculptPage, pose: ps.Pose) -> None:
    page.drag(at(page, ELBOW)[1], (0, -30))
    wanted = page.points()
    page.page.click("button:text-is('define')")
    assert "name" in str(page.page.text_content(".sculpt .status"))
    page.page.fill(".sculpt input[type=text]", "bent elbow")
    page.page.click("button:text-is('define')")
    page.page.wait_for_selector("button:text-is('start sculpt')")
    ((data, arrays),) = page.requests("define")
    assert (data["name"], data["replace"]) == ("bent elbow", False)
    assert np.array(data["pose"]["joints"])[:12].reshape(3, 4) == pytest.approx(pose.rotations, abs=1e-6)
    assert (arrays["points"].reshape(-1, 3) == wanted).all()
    assert page.page.evaluate("posespace.stage.meshes.every((mesh) => mesh.visible)")
    assert page.page.text_content(".sculpt .status") == "added 'bent elbow'"
    page.begin()
    page.page.fill(".sculpt input[type=text]", "bent elbow")
    assert page.page.is_visible("button:text-is('replace')")


def test_cancel_drops_strokes_and_their_draft(page: SculptPage) -> None:
    page.drag(at(page, ELBOW)[1], (0, -30))
    page.page.click("button:text-is('cancel')")
    page.page.wait_for_selector("button:text-is('start sculpt')")
    page.frame()
    assert page.requests("draft")[-1][1] == {}
    assert not page.requests("define")


@pytest.mark.slow
def test_a_shape_goes_out_as_a_file_and_comes_back_as_one_stroke(page: SculptPage, tmp_path: Path) -> None:
    before = page.points()
    page.drag(at(page, ELBOW)[1], (0, -30))
    sculpted = page.points()
    with page.page.expect_download() as saved:
        page.page.click("button:text-is('export OBJ')")
    saved.value.save_as(tmp_path / "shape.obj")
    page.press("Control+z")
    assert (page.points() == before).all()
    page.page.set_input_files(".sculpt input[type=file]", tmp_path / "shape.obj")
    page.page.wait_for_function("posespace.sculpt.session.sculpting.dirty")
    assert page.points() == pytest.approx(sculpted, abs=1e-5)
    page.press("Control+z")
    assert (page.points() == before).all()


@pytest.mark.slow
def test_one_finger_sculpts_and_two_turn_the_view(chromium: Any, script: str, skin: ps.Skin, pose: ps.Pose) -> None:
    page = SculptPage(chromium, script, skin, pose, phone=True)
    page.page.click("button:text-is('fit view')")
    page.begin()
    before = page.points()
    _, (x, y) = at(page, SHOULDER)
    page.touch("touchStart", (x, y))
    page.touch("touchMove", (x, y - 20))
    page.touch("touchEnd")
    assert moved(page, before).max() > 0
    page.press("Control+z")
    camera = page.page.evaluate("posespace.stage.camera.position.toArray()")
    page.touch("touchStart", (x, y))
    page.touch("touchMove", (x, y - 10))
    page.touch("touchStart", (x, y - 10), (x + 40, y - 10))
    page.touch("touchMove", (x - 20, y - 10), (x + 80, y - 30))
    page.touch("touchEnd")
    page.frame()
    assert moved(page, before).max() == 0
    assert page.page.evaluate("posespace.stage.camera.position.toArray()") != camera
    page.close()
