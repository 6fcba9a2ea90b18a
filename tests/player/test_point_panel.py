"""The panel of control points on the page, by mouse and on a touch screen: list, keys, beta, key poses, history."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Runner
from helpers.drag_page import DragPage
from helpers.point_skins import point_skin

import posespace as ps

pytestmark = pytest.mark.slow

POINT = 6
BY = (30.0, -20.0)
LEAST_TARGET = 40
TOUCH = "Drag a point; two fingers move the camera; a double tap resets a point."


@pytest.fixture(scope="module")
def skin() -> ps.Skin:
    return point_skin("corrections and detail")


@pytest.fixture(scope="module")
def file(node: Runner, skin: ps.Skin, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("panel") / "arm.html"
    ps.export(skin, path)
    return path


@pytest.fixture
def page(file: Path, skin: ps.Skin, chromium: Any) -> Iterator[DragPage]:
    page = DragPage(chromium, file, skin)
    yield page
    page.close()


def moved(page: DragPage) -> bool:
    return bool(page.pose().translations.any())


def undone(page: DragPage) -> None:
    page.page.keyboard.press("Control+z")


def store(page: DragPage) -> None:
    page.page.click("button:text-is('store')")


def test_a_point_selected_in_the_picture_is_seen_in_the_list(page: DragPage) -> None:
    page.page.evaluate("document.querySelector('details.points').open = true")
    page.page.evaluate("document.querySelector('.points ul').style.maxHeight = '70px'")
    for point in (7, 0, 5):
        page.page.evaluate(f"posespace.stage.points.select({point})")
        tops = page.page.evaluate(
            """(point) => {
                const list = document.querySelector('.points ul').getBoundingClientRect();
                const row = document.querySelectorAll('.points li')[point].getBoundingClientRect();
                return [row.top - list.top, list.bottom - row.bottom];
            }""",
            point,
        )
        assert min(tops) > -1


def test_keys_do_nothing_during_a_drag_but_end_it(page: DragPage) -> None:
    page.drag(POINT, BY)
    page.drag(POINT, BY, drop=False)
    held = page.pose().translations
    for key in ("ArrowRight", "x", "Shift+X", "r", "k"):
        page.page.keyboard.press(key)
    assert page.pose().translations == pytest.approx(held)
    assert page.page.locator(".key-poses li").count() == 0
    page.page.keyboard.press("Escape")
    page.page.mouse.up()
    assert moved(page)
    assert not np.allclose(page.pose().translations, held)


@pytest.mark.parametrize("change", ["rest pose", "reset all", "apply", "play", "space"])
def test_a_dragged_pose_comes_back_by_undo(page: DragPage, change: str) -> None:
    store(page)
    page.drag(0, BY)
    store(page)
    page.drag(POINT, BY)
    posed = page.pose().translations
    if change == "space":
        page.page.keyboard.press(" ")
    else:
        page.page.locator(f"button:text-is('{change}')").first.click()
    page.frame()
    assert not np.allclose(page.pose().translations, posed)
    undone(page)
    assert page.pose().translations == pytest.approx(posed)
    page.frame()
    page.page.click("button:text-is('redo pose')")
    assert not np.allclose(page.pose().translations, posed)


def test_beta_goes_back_to_that_of_the_fit(page: DragPage, skin: ps.Skin) -> None:
    slider = page.page.locator(".slider", has_text="beta")
    beta = lambda: page.page.evaluate("posespace.stage.skins[0].beta")  # noqa: E731
    put = "(input, power) => { input.value = power; input.dispatchEvent(new Event('input')); }"
    fitted = beta()
    for _ in range(2):
        slider.locator("input").evaluate(put, -1)
        page.frame()
        assert beta() == pytest.approx(0.1)
        slider.dblclick()
        page.frame()
        assert beta() == fitted
    slider.locator("input").evaluate(put, -1)
    slider.locator("input").evaluate(put, float(np.log10(fitted)) + 0.02)
    page.frame()
    assert beta() == fitted
    # Keys leave it, and come back to it.
    slider.locator("input").focus()
    page.page.keyboard.press("ArrowLeft")
    page.frame()
    assert beta() < 0.9 * fitted
    page.page.keyboard.press("ArrowRight")
    page.frame()
    assert beta() == fitted


def test_names_of_key_poses_are_read_and_the_timeline_goes_with_the_last(page: DragPage, tmp_path: Path) -> None:
    page.page.set_viewport_size({"width": 1280, "height": 800})
    for _ in range(3):
        page.drag(POINT, (6.0, 4.0))
        store(page)
    fields = page.page.locator(".key-poses input")
    fields.first.fill("thumb opposed")
    fields.first.press("Enter")
    assert fields.first.evaluate("(field) => field.scrollWidth <= field.clientWidth && field.clientWidth") > 200
    said = page.page.locator("#timeline output")
    page.page.locator("#timeline .marks button").last.click()
    assert said.text_content() == "2.00 s · frame 60 of 60"
    page.page.locator(".key-poses li").last.get_by_role("button", name="×").click()
    assert said.text_content() == "1.00 s · frame 30 of 30"
    page.page.locator(".key-poses li").last.get_by_role("button", name="×").click()
    assert not page.page.locator("#timeline").is_visible()
    page.frame()
    assert page.page.locator("#handles:not(.hidden)").count() == 1

    poses = {"one": {"translations": {"point2": [0, 0, 0.1]}}}
    with page.page.expect_file_chooser() as chooser:
        page.page.click("button:text-is('load')")
    content = json.dumps({"posespace": "poses", "version": 1, "poses": poses}).encode()
    chooser.value.set_files({"name": "p3.json", "mimeType": "application/json", "buffer": content})
    page.page.wait_for_selector("text=loaded 1 pose from p3.json")


def test_a_stored_pose_plays_by_the_space_bar_after_a_click(page: DragPage) -> None:
    store(page)
    page.drag(POINT, BY)
    store(page)
    page.page.keyboard.press(" ")
    assert page.page.evaluate("posespace.stage.posing.moving")
    assert page.page.locator(".key-poses li").count() == 2


def test_a_touch_screen_says_what_fingers_do_and_has_targets_for_them(
    file: Path, skin: ps.Skin, chromium: Any, tmp_path: Path
) -> None:
    page = DragPage(chromium, file, skin, phone=True)
    page.page.set_viewport_size({"width": 820, "height": 1180})
    assert page.page.evaluate("matchMedia('(pointer: coarse)').matches")
    assert page.page.locator(".hint:visible").all_text_contents() == [TOUCH]
    assert not page.page.locator(".keys").is_visible()
    for _ in range(2):
        page.page.locator("button:text-is('store')").tap()
    for name in ("↑", "↓", "×"):
        box = page.page.locator(".key-poses li").last.get_by_role("button", name=name).bounding_box()
        assert min(box["width"], box["height"]) >= LEAST_TARGET
    x, y = page.handle(POINT)
    page.touch("touchStart", (x, y))
    for step in range(1, 5):
        page.touch("touchMove", (x + 8 * step, y + 3 * step))
    page.touch("touchEnd")
    assert moved(page)
    page.page.locator("button:text-is('undo pose')").tap()
    assert not moved(page)
    page.page.locator("button:text-is('redo pose')").tap()
    page.frame()
    x, y = page.handle(POINT)
    # On a busy machine two taps may come too late one after the other to be a double one.
    for _ in range(60):
        page.touch("touchStart", (x, y))
        page.touch("touchEnd")
        if not moved(page):
            break
    assert not moved(page)
    page.close()
