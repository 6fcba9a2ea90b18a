"""Joints on the page, posed in a real browser: picked, rotated, pulled, found in the tree, undone; the timeline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import Runner
from helpers.posing_page import PosingPage
from PIL import Image

import posespace as ps

BOX = 2e-3
"""How far the page's points may be from `skin.pose`, over the box: its layers have 8 bits."""


@pytest.fixture(scope="module")
def skin() -> ps.Skin:
    train, _ = ps.datasets.hand()
    return ps.PSD().fit(train[[0, 1, 2, 3]])


@pytest.fixture(scope="module")
def file(node: Runner, skin: ps.Skin, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("posing") / "hand.html"
    _, unseen = ps.datasets.hand()
    ps.export(skin, path, unseen.motion)
    return path


@pytest.fixture(scope="module")
def opened(file: Path, skin: ps.Skin, chromium: object) -> Iterator[PosingPage]:
    page = PosingPage(chromium, file, skin)
    yield page
    page.close()


@pytest.fixture
def page(opened: PosingPage) -> PosingPage:
    """The page at rest, as it was opened."""
    opened.page.evaluate("posespace.stage.posing.rest(); posespace.stage.joints.select(-1)")
    opened.page.click(".choice button:text-is('rotate')")
    opened.page.click("button:text-is('fit view')")
    # The camera comes to rest.
    opened.page.mouse.move(5, 5)
    opened.frame()
    return opened


def within_limits(page: PosingPage) -> bool:
    """Whether all joints are within their limits, and about no other axes."""
    limits = page.skin.rig.skeleton.limits
    assert limits is not None
    angles = page.angles()
    return bool(((angles > limits[..., 0] - 1e-6) & (angles < limits[..., 1] + 1e-6)).all())


def picture(page: PosingPage, folder: Path) -> np.ndarray:
    """What the page shows of the skin, bones and rings included."""
    page.frame()
    page.page.locator("#stage").screenshot(path=folder / "shot.png")
    # Without the frame of what has the focus.
    return np.asarray(Image.open(folder / "shot.png").convert("RGB")).astype(int)[8:-8, 8:-8]


def test_a_click_selects_the_joint_that_moves_the_skin_there_and_one_beside_it_none(page: PosingPage) -> None:
    page.page.mouse.move(*page.beyond("index_dip", "index_pip"))
    assert page.page.text_content(".joint-name") == "index_dip"
    page.page.mouse.down()
    page.page.mouse.up()
    assert page.selected == "index_dip"
    assert page.page.locator(".joint-tree [aria-selected=true]").get_attribute("aria-label") == "index_dip"
    assert page.page.text_content(".joint h2") == "index_dip"
    page.page.mouse.click(20, 20)
    assert page.selected == ""
    assert page.page.locator(".joint").is_hidden()


def test_bones_are_drawn_over_the_picture_and_are_picked_first(page: PosingPage, tmp_path: Path) -> None:
    before = picture(page, tmp_path)
    page.page.keyboard.press("b")
    assert (np.abs(picture(page, tmp_path) - before).max(axis=2) > 20).mean() > 0.005
    wrist, knuckle = np.array(page.joint("wrist")), np.array(page.joint("middle_mcp"))
    page.page.mouse.click(*(0.6 * wrist + 0.4 * knuckle))
    assert page.selected == "wrist"
    page.page.mouse.click(20, 20)
    page.page.mouse.move(5, 5)
    page.page.keyboard.press("b")
    assert np.abs(picture(page, tmp_path) - before).max() < 10


def test_a_ring_rotates_the_selected_joint_alone_and_within_its_limits(page: PosingPage) -> None:
    camera = page.camera()
    page.select("middle_mcp")
    joint = page.skin.rig.skeleton.index("middle_mcp")
    page.sweep(page.ring(), (0, 60))
    angles = page.angles()
    assert np.flatnonzero(np.abs(angles).max(axis=1) > 1e-9).tolist() == [joint]
    assert within_limits(page)
    assert page.error() < BOX
    page.sweep(page.ring(), (0, 400))
    limits = page.skin.rig.skeleton.limits[joint]
    assert np.isclose(page.angles()[joint][:, None], limits, atol=1e-6).any(axis=1)[:2].any()
    assert within_limits(page)
    assert page.camera() == pytest.approx(camera)


def test_a_drag_that_is_neither_on_a_ring_nor_pulls_is_the_cameras(page: PosingPage) -> None:
    camera = page.camera()
    page.select("middle_mcp")
    page.sweep(page.joint("wrist"), (60, 10))
    assert np.abs(page.camera() - camera).max() > 0.01
    assert not page.angles().any()
    assert page.selected == "middle_mcp"


def test_a_pulled_fingertip_stays_below_the_pointer_and_the_finger_within_its_limits(page: PosingPage) -> None:
    page.page.keyboard.press("g")
    start = page.beyond("index_dip", "index_pip")
    page.sweep(start, (8, 90))
    angles, names = page.angles(), page.skin.rig.skeleton.names
    moved = {names[joint] for joint in np.flatnonzero(np.abs(angles).max(axis=1) > 1e-6)}
    assert moved == {"index_mcp", "index_pip", "index_dip"}
    assert within_limits(page)
    assert page.error() < BOX
    page.page.mouse.move(5, 5)
    tip = page.beyond("index_dip", "index_pip")
    assert np.hypot(tip[0] - start[0] - 8, tip[1] - start[1] - 90) < 25
    page.sweep(page.joint("ring_pip"), (500, -300))
    assert within_limits(page)


def test_so_many_joints_follow_as_the_user_wants(page: PosingPage) -> None:
    page.page.keyboard.press("g")
    slider = page.page.locator(".slider", has_text="following")
    for length, moved in ((1, 1), (4, 4), (0, 3)):
        slider.locator("input").evaluate(f"(s) => {{ s.value = {length}; s.dispatchEvent(new Event('input')); }}")
        page.sweep(page.beyond("index_dip", "index_pip"), (6, 70))
        assert (np.abs(page.angles()).max(axis=1) > 1e-6).sum() == moved
        page.page.keyboard.press("Control+z")
        page.frame()
        assert np.abs(page.angles()).max() < 1e-6


def test_a_joint_that_its_limits_hold_says_so(page: PosingPage) -> None:
    page.page.keyboard.press("g")
    wrist, forearm = np.array(page.joint("wrist")), np.array(page.joint("forearm"))
    page.sweep(tuple(0.2 * wrist + 0.8 * forearm), (40, 0))
    assert page.selected == "forearm"
    assert "let none rotate" in page.page.locator(".status:visible").first.text_content()
    assert not page.angles().any()


def test_all_posing_by_hand_is_undone_and_redone_in_order(page: PosingPage) -> None:
    page.select("middle_mcp")
    page.sweep(page.ring(), (0, 60))
    first = page.angles()
    page.page.keyboard.press("g")
    page.sweep(page.beyond("index_dip", "index_pip"), (8, 80))
    second = page.angles()
    slider = page.page.locator(".joint-angles input").first
    slider.evaluate("(s) => { s.value = 20; s.dispatchEvent(new Event('input', { bubbles: true })); }")
    slider.evaluate("(s) => s.dispatchEvent(new Event('change', { bubbles: true }))")
    third = page.angles()
    page.page.click("button:text-is('reset joint')")
    page.page.keyboard.press("r")
    assert not page.angles().any()
    steps = [third, second, first]
    page.page.keyboard.press("Control+z")
    for angles in steps:
        page.page.keyboard.press("Control+z")
        assert page.angles() == pytest.approx(angles, abs=1e-6)
    page.page.keyboard.press("Control+z")
    assert np.abs(page.angles()).max() < 1e-6
    for key, angles in zip(("Control+y", "Control+Shift+z", "Control+y"), reversed(steps), strict=True):
        page.page.keyboard.press(key)
        assert page.angles() == pytest.approx(angles, abs=1e-6)


def test_escape_lets_go_of_a_drag(page: PosingPage) -> None:
    page.page.keyboard.press("g")
    page.sweep(page.beyond("index_dip", "index_pip"), (8, 80), drop=False)
    assert page.angles().any()
    page.page.keyboard.press("Escape")
    assert np.abs(page.angles()).max() < 1e-6
    page.page.mouse.up()
    page.frame()
    assert np.abs(page.angles()).max() < 1e-6


def test_the_tree_folds_is_searched_and_walked_by_keys(page: PosingPage) -> None:
    rows = page.page.locator(".joint-tree li:visible")
    assert rows.count() == 17
    page.page.locator(".joint-tree li[aria-label='index_mcp'] .fold").click()
    assert rows.count() == 15
    page.select("wrist")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.page.keyboard.press(key)
    assert page.selected == "thumb_ip"
    for key in ("ArrowLeft", "ArrowLeft"):
        page.page.keyboard.press(key)
    assert page.selected == "thumb_mcp"
    assert rows.count() == 14
    page.page.keyboard.press("Home")
    assert page.selected == "forearm"
    page.page.fill("input[aria-label='find joints by name']", "RING_D")
    assert rows.count() == 5
    page.page.keyboard.press("Enter")
    assert page.selected == "ring_dip"
    page.page.keyboard.press("Escape")
    assert rows.count() == 14
    page.page.evaluate("posespace.stage.joints.select(posespace.stage.joints.tree.names.indexOf('index_dip'))")
    assert rows.count() == 16


def test_the_timeline_plays_steps_and_has_marks_of_key_poses(file: Path, skin: ps.Skin, chromium: object) -> None:
    page = PosingPage(chromium, file, skin)
    play, said = page.page.locator("#timeline button").nth(1), page.page.locator("#timeline output")
    assert play.text_content() == "pause"
    page.page.keyboard.press(" ")
    assert play.text_content() == "play"
    page.page.locator("#timeline input").evaluate("(s) => { s.value = 3; s.dispatchEvent(new Event('input')); }")
    page.page.keyboard.press("ArrowRight")
    assert "frame 4 of 24" in said.text_content()
    page.page.keyboard.press("ArrowLeft")
    page.page.click("#timeline button[title^='a frame back']")
    assert "frame 2 of 24" in said.text_content()
    assert page.error() < BOX
    stored = page.angles()
    page.page.keyboard.press("k")
    page.page.keyboard.press("r")
    assert page.page.locator("#timeline").is_visible()
    page.page.click("#timeline button[aria-label='key pose pose 1']")
    assert page.angles() == pytest.approx(stored, abs=1e-6)
    page.page.keyboard.press(" ")
    assert play.text_content() == "pause"
    page.page.wait_for_selector("#timeline output span:text-matches('frame (1[0-9]|[5-9]) of')")
    page.close()


def test_a_rig_without_layers_is_posed_too(node: Runner, chromium: object, tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=14, sides=9)
    bare = ps.Skin(train.rig)
    ps.export(bare, tmp_path / "arm.html")
    page = PosingPage(chromium, tmp_path / "arm.html", bare)
    page.select("forearm")
    page.sweep(page.ring(), (0, -80))
    assert np.abs(page.angles()).max() > 0.05
    assert within_limits(page)
    assert page.error() < BOX
    page.close()


def test_one_finger_on_a_ring_poses_and_two_are_the_cameras(file: Path, skin: ps.Skin, chromium: object) -> None:
    page = PosingPage(chromium, file, skin, phone=True)
    page.page.keyboard.press(" ")
    page.page.evaluate("posespace.stage.posing.rest()")
    page.frame()
    page.page.touchscreen.tap(*page.joint("middle_pip"))
    assert page.selected.startswith("middle")
    camera, (x, y) = page.camera(), page.ring()
    page.touch("touchStart", (x, y))
    for step in range(1, 5):
        page.touch("touchMove", (x, y + 10 * step))
    page.touch("touchEnd")
    posed = page.angles()
    assert np.abs(posed).max() > 0.05
    assert page.camera() == pytest.approx(camera)
    x, y = page.ring()
    page.touch("touchStart", (x, y))
    page.touch("touchStart", (x, y), (x + 80, y))
    for step in range(1, 5):
        page.touch("touchMove", (x - 10 * step, y), (x + 80 + 10 * step, y))
    page.touch("touchEnd")
    assert np.linalg.norm(page.camera() - camera) > 0.01
    assert page.angles() == pytest.approx(posed, abs=1e-6)
    page.close()
