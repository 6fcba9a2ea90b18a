"""Control points on the page, dragged in a real browser by a mouse, by keys and by fingers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Runner
from helpers.commands import run
from helpers.drag_page import DragPage

import posespace as ps
from posespace.poses.control_points import motion_from_shapes
from posespace.skin.edit import with_beta

pytestmark = pytest.mark.slow

TIPS = ("thumb_ip", "little_dip", "index_dip", "middle_dip", "ring_dip")
KNUCKLES = ("wrist", "thumb_cmc", "index_mcp", "middle_pip", "little_mcp", "index_pip", "forearm")
THUMB, LITTLE, INDEX = 0, 1, 2
BY = (37.0, -22.0)


@pytest.fixture(scope="module")
def hand() -> ps.datasets.ScannedHand:
    return ps.datasets.scanned_hand(vertices=1200)


@pytest.fixture(scope="module")
def skin(hand: ps.datasets.ScannedHand) -> ps.Skin:
    rig = hand.examples.rig
    gaps = rig.mesh.points[:, None] - rig.skeleton.rest_world[:, :3, 3]
    distances, nearest = np.linalg.norm(gaps, axis=2), rig.influences[np.arange(len(gaps)), rig.weights.argmax(axis=1)]
    joints = {name: rig.skeleton.index(name) for name in (*TIPS, *KNUCKLES)}
    tips = [int(np.where(nearest == joints[name], distances[:, joints[name]], 0).argmax()) for name in TIPS]
    knuckles = [int(distances[:, joints[name]].argmin()) for name in KNUCKLES]
    examples = replace(hand.examples, heights=hand.heights, levels=1)
    return ps.ControlPoints(picked=(*tips, *knuckles), bones=16, near_points=4).fit(examples)


@pytest.fixture(scope="module")
def file(node: Runner, skin: ps.Skin, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("drag") / "hand.html"
    ps.export(skin, path)
    return path


@pytest.fixture(scope="module")
def opened(file: Path, skin: ps.Skin, chromium: object) -> Iterator[DragPage]:
    page = DragPage(chromium, file, skin)
    yield page
    page.close()


@pytest.fixture
def page(opened: DragPage) -> DragPage:
    """The page at rest, as it was opened."""
    opened.page.evaluate("posespace.stage.posing.rest()")
    opened.page.click("button:text-is('fit view')")
    opened.page.click(".choice button:text-is('point')")
    opened.frame()
    return opened


@pytest.mark.parametrize("keys", [(), ("Shift",), ("Control",), ("Alt",), ("Control", "Shift")])
def test_a_dragged_point_gives_the_surface_of_skin_pose(page: DragPage, keys: tuple[str, ...]) -> None:
    before = page.surface()
    page.drag(INDEX, BY, keys)
    assert np.abs(page.surface() - before).max() > 5
    assert page.error() < 1e-4


def test_a_point_stays_below_the_pointer_and_the_others_where_they_were(page: DragPage) -> None:
    x, y = page.handle(INDEX)
    page.drag(INDEX, BY)
    moved = page.pose().translations
    assert np.flatnonzero(np.abs(moved).max(axis=1)).tolist() == [1 + INDEX]
    after = page.handle(INDEX)
    assert np.hypot(after[0] - x - BY[0], after[1] - y - BY[1]) < 8


def test_with_shift_a_point_goes_along_its_normal(page: DragPage, skin: ps.Skin) -> None:
    _, normals = skin.pose(skin.rig.rest)
    page.drag(INDEX, (0, -40), ("Shift",))
    moved = page.pose().translations[1 + INDEX]
    assert abs(moved @ normals[skin.bones.points[INDEX]]) == pytest.approx(np.linalg.norm(moved), rel=1e-3)


@pytest.mark.parametrize(("mode", "key"), [("whole", "Control"), ("rotate", None)])
def test_the_whole_moves_rigidly(page: DragPage, mode: str, key: str | None) -> None:
    before = page.surface()
    if key is None:
        page.page.click(f".choice button:text-is('{mode}')")
    page.drag(INDEX, BY, (key,) if key else ())
    after, pose = page.surface(), page.pose()
    assert not pose.translations[1:].any()
    assert np.abs(after - before).max() > 5
    gaps = [np.linalg.norm(points[::7, None] - points[::7], axis=2) for points in (before, after)]
    assert np.abs(gaps[0] - gaps[1]).max() < 1e-3
    assert (pose.rotations[0] == (0, 0, 0, 1)).all() == (mode == "whole")


def test_the_thumb_leaves_the_little_finger_still(page: DragPage, skin: ps.Skin) -> None:
    near = np.linalg.norm(skin.pose(skin.rig.rest)[0] - skin.bones.rest[LITTLE], axis=1) < 25
    before = page.surface()
    page.drag(THUMB, (-40, 10))
    moved = np.linalg.norm(page.surface() - before, axis=1)
    assert moved.max() > 10
    assert moved[near].max() < 0.02 * moved.max()


def test_beside_the_handles_a_drag_is_the_cameras(page: DragPage) -> None:
    camera = page.camera()
    page.page.mouse.move(*page.beside())
    page.page.mouse.down()
    page.page.mouse.move(120, 90, steps=4)
    page.page.mouse.up()
    page.frame()
    assert np.abs(page.camera() - camera).max() > 0.01
    assert not page.pose().translations.any()


def test_a_drag_is_cancelled_undone_and_reset(page: DragPage) -> None:
    page.drag(INDEX, BY, drop=False)
    assert page.pose().translations.any()
    page.page.keyboard.press("Escape")
    assert not page.pose().translations.any()
    page.page.mouse.up()
    page.frame()
    page.drag(INDEX, BY)
    first = page.pose().translations
    page.drag(THUMB, BY)
    page.page.keyboard.press("Control+z")
    assert page.pose().translations == pytest.approx(first)
    page.frame()
    page.page.mouse.dblclick(*page.handle(INDEX))
    assert not page.pose().translations.any()
    page.page.keyboard.press("Control+z")
    assert page.pose().translations == pytest.approx(first)
    page.page.click("button:text-is('reset all')")
    assert not page.pose().translations.any()


def test_points_are_selected_in_the_list_moved_by_keys_and_reset(page: DragPage) -> None:
    page.page.evaluate("document.querySelector('details.points').open = true")
    row = page.page.locator(".points li").nth(INDEX)
    row.locator("button").first.click()
    assert row.locator("button").first.get_attribute("aria-pressed") == "true"
    page.page.focus("#stage")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.page.keyboard.press(key)
    page.frame()
    assert np.flatnonzero(np.abs(page.pose().translations).max(axis=1)).tolist() == [1 + INDEX]
    assert row.locator("output").text_content().endswith(" mm")
    row.get_by_role("button", name="reset").click()
    page.frame()
    assert not page.pose().translations.any()
    assert row.locator("output").text_content() == ""


def test_corrections_detail_and_beta_are_those_of_the_library(page: DragPage, skin: ps.Skin) -> None:
    page.drag(INDEX, BY)
    slide(page, "beta", 0)
    soft, count = with_beta(skin, 1.0), len(skin.rig.mesh.points)
    assert np.abs(page.surface() - soft.pose(page.pose())[0]).max() < 1e-4 * page.box
    page.page.keyboard.press("d")
    coarse = replace(soft, detail=None)
    assert np.abs(page.surface()[:count] - coarse.pose(page.pose())[0]).max() < 1e-4 * page.box
    page.page.keyboard.press("c")
    assert np.abs(page.surface()[:count] - uncorrected(coarse).pose(page.pose())[0]).max() < 1e-4 * page.box
    for key in ("d", "c"):
        page.page.keyboard.press(key)
    slide(page, "beta", float(np.log10(skin.bones.beta)))
    assert page.error() < 1e-4


def slide(page: DragPage, name: str, value: float) -> None:
    """Move a slider."""
    slider = page.page.locator(".slider", has_text=name).locator("input")
    slider.evaluate(f"(input) => {{ input.value = {value}; input.dispatchEvent(new Event('input')); }}")
    page.frame()


def uncorrected(skin: ps.Skin) -> ps.Skin:
    """The skin with corrections of no size."""
    none = np.zeros(skin.bones.corrections.shape, np.float32)
    return replace(skin, bones=replace(skin.bones, corrections=none))


def test_fingers_drag_orbit_and_turn(file: Path, skin: ps.Skin, chromium: object) -> None:
    page = DragPage(chromium, file, skin, phone=True)
    camera, (x, y) = page.camera(), page.handle(INDEX)
    page.touch("touchStart", (x, y))
    for step in range(1, 5):
        page.touch("touchMove", (x + 8 * step, y + 3 * step))
    page.touch("touchEnd")
    moved = page.pose().translations
    assert np.flatnonzero(np.abs(moved).max(axis=1)).tolist() == [1 + INDEX]
    assert page.camera() == pytest.approx(camera)
    assert page.error() < 1e-4

    page.touch("touchStart", page.beside())
    page.touch("touchMove", (60, 50))
    page.touch("touchEnd")
    orbited = page.camera()
    assert np.abs(orbited - camera).max() > 0.01
    assert page.pose().translations == pytest.approx(moved)

    page.frame()
    x, y = page.handle(THUMB)
    page.touch("touchStart", (x, y))
    page.touch("touchStart", (x, y), (x + 80, y))
    for step in range(1, 5):
        page.touch("touchMove", (x - 10 * step, y), (x + 80 + 10 * step, y))
    page.touch("touchEnd")
    assert np.linalg.norm(page.camera() - orbited) > 0.01
    assert page.pose().translations == pytest.approx(moved)
    page.close()


def test_two_fingers_that_begin_beside_the_handles_are_the_cameras(file: Path, skin: ps.Skin, chromium: object) -> None:
    page = DragPage(chromium, file, skin, phone=True)
    camera, handle = page.camera(), page.handle(INDEX)
    page.touch("touchStart", page.beside())
    page.touch("touchStart", page.beside(), handle)
    page.touch("touchMove", (20, 60), (handle[0], handle[1] + 60))
    page.touch("touchEnd")
    assert np.abs(page.camera() - camera).max() > 1e-4
    assert not page.pose().translations.any()
    page.close()


def three_key_poses(page: DragPage) -> None:
    """Store a rest pose, a bent finger and a moved whole as key poses."""
    page.page.click("button:text-is('store')")
    page.drag(INDEX, BY)
    page.page.click("button:text-is('store')")
    page.drag(THUMB, (-30, 20))
    page.drag(THUMB, (30, 15), ("Control", "Shift"))
    page.drag(THUMB, (30, 15), ("Control",))
    page.page.keyboard.press("k")


def saved(page: DragPage, what: str, folder: Path) -> Path:
    """What a button saves."""
    with page.page.expect_download() as download:
        page.page.click(f"button:text-is('{what}')")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("axes", [{}, {"unit": "cm", "up": "z"}])
def test_key_poses_are_blended_saved_and_read_by_the_commands(
    node: Runner, skin: ps.Skin, chromium: object, tmp_path: Path, axes: dict[str, str]
) -> None:
    ps.export(skin, tmp_path / "hand.html", **axes)
    skin.save(tmp_path / "hand.skin")
    page = DragPage(chromium, tmp_path / "hand.html", skin, axes)
    three_key_poses(page)
    rename(page, 1, '<b>"2"')
    page.page.locator("#timeline input").evaluate(
        "(frames) => { frames.value = 45; frames.dispatchEvent(new Event('input')); }"
    )
    page.page.click("button:text-is('store')")
    path = saved(page, "save poses", tmp_path)
    assert path.name == "hand-poses.json"
    motion = ps.load_motion(path, skin.rig.skeleton)
    assert motion.names == ("pose 1", '<b>"2"', "pose 3", "pose 4")
    assert motion[3].translations == pytest.approx(page.pose().translations, abs=1e-9)
    halfway = (motion[1].translations + motion[2].translations) / 2
    assert motion[3].translations == pytest.approx(halfway, abs=1e-9)
    done = run("pose", "hand.skin", "--poses", path.name, "-o", "posed", "--format", "ply", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    # The command leaves detail out.
    page.page.keyboard.press("d")
    shape = ps.load_mesh(tmp_path / "posed" / "pose 4.ply").points
    assert np.abs(page.surface()[: len(shape)] - shape).max() < 1e-4 * page.box
    page.close()


def rename(page: DragPage, row: int, name: str) -> None:
    """Give a key pose another name."""
    field = page.page.locator(".key-poses input").nth(row)
    field.fill(name)
    field.press("Enter")


def names_of(page: DragPage) -> list[str]:
    """The names of the key poses."""
    return [field.input_value() for field in page.page.locator(".key-poses input").all()]


def test_key_poses_are_taken_put_in_order_and_loaded_again(
    file: Path, skin: ps.Skin, chromium: object, tmp_path: Path
) -> None:
    page = DragPage(chromium, file, skin)
    three_key_poses(page)
    last = page.pose()
    rename(page, 0, "pose 2")
    assert names_of(page) == ["pose 2 (2)", "pose 2", "pose 3"]
    page.page.locator(".key-poses li").nth(2).get_by_role("button", name="↑").click()
    page.page.locator(".key-poses li").first.get_by_role("button", name="×").click()
    assert names_of(page) == ["pose 3", "pose 2"]
    page.page.click("button:text-is('reset all')")
    page.page.locator(".key-poses li").first.get_by_role("button", name="apply").click()
    assert page.pose().translations == pytest.approx(last.translations)
    path = saved(page, "save motion", tmp_path)
    assert len(ps.load_motion(path, skin.rig.skeleton)) == 31
    with page.page.expect_file_chooser() as chooser:
        page.page.click("button:text-is('load')")
    chooser.value.set_files(saved(page, "save poses", tmp_path))
    page.page.locator(".key-poses li").nth(3).wait_for()
    assert names_of(page) == ["pose 3", "pose 2", "pose 3 (2)", "pose 2 (2)"]
    page.page.locator(".key-poses li").nth(2).get_by_role("button", name="apply").click()
    assert page.pose().rotations == pytest.approx(last.rotations, abs=1e-12)
    page.close()


DROP = """(text) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([text], "dropped.json"));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped }));
}"""


def test_a_file_of_poses_is_dropped_onto_the_page(file: Path, skin: ps.Skin, chromium: object) -> None:
    page = DragPage(chromium, file, skin)
    pose = {"rotations": {"root": [0, 0, 1, 1]}, "translations": {"point2": [1, 2, 3]}}
    page.page.evaluate(DROP, json.dumps({"posespace": "poses", "version": 1, "poses": {"far": pose}}))
    page.page.get_by_role("button", name="apply").click()
    assert page.pose().rotations[0] == pytest.approx([0, 0, 0.5**0.5, 0.5**0.5])
    assert page.pose().translations[2] == pytest.approx([1, 2, 3])
    assert page.error() < 1e-4
    page.close()


def test_a_damaged_file_of_poses_is_refused_in_one_line(page: DragPage) -> None:
    with page.page.expect_file_chooser() as chooser:
        page.page.click("button:text-is('load')")
    content = json.dumps({"posespace": "poses", "version": 1, "poses": {"a": {"translations": {"nose": [0, 0, 0]}}}})
    chooser.value.set_files({"name": "other.json", "mimeType": "application/json", "buffer": content.encode()})
    page.page.wait_for_selector('text=other.json: pose "a": the skin has no joint "nose"')


def test_handles_hide_while_a_clip_plays_and_a_drag_takes_over_from_it(
    node: Runner, hand: ps.datasets.ScannedHand, skin: ps.Skin, chromium: object, tmp_path: Path
) -> None:
    motion = motion_from_shapes(hand.examples, skin.rig, skin.bones.points)
    ps.export(skin, tmp_path / "hand.html", motion)
    page = DragPage(chromium, tmp_path / "hand.html", skin)
    page.page.wait_for_selector("#handles.hidden", state="attached")
    page.page.keyboard.press(" ")
    page.page.wait_for_selector("#handles:not(.hidden)", state="attached")
    page.frame()
    before = page.pose()
    assert page.error() < 1e-4
    page.drag(THUMB, (-20, 10))
    after = page.pose()
    assert np.flatnonzero(np.abs(after.translations - before.translations).max(axis=1) > 1e-6).tolist() == [1 + THUMB]
    assert page.error() < 1e-4
    page.page.keyboard.press("p")
    page.page.wait_for_selector("#handles.hidden", state="attached")
    page.close()


def test_errors_at_examples_are_shown_as_colours(
    node: Runner, hand: ps.datasets.ScannedHand, skin: ps.Skin, chromium: object, tmp_path: Path
) -> None:
    ps.export(skin, tmp_path / "hand.html", examples=hand.examples)
    page = DragPage(chromium, tmp_path / "hand.html", skin)
    page.page.select_option("select:has-text('fist')", str(hand.names.index("fist")))
    fist = skin.bones.rest + page.pose().translations[1:]
    assert fist == pytest.approx(hand.shape(hand.names.index("fist"))[skin.bones.points], abs=1e-3)
    assert page.error() < 1e-4
    page.page.keyboard.press("h")
    page.frame()
    colours = np.array(page.page.evaluate("[...posespace.stage.skins[0].meshes[0].geometry.attributes.color.array]"))
    assert colours.reshape(-1, 3).shape == page.surface().shape
    assert np.ptp(colours) > 0.1
    page.close()


def test_a_drag_at_four_thousand_vertices_gives_the_surface_of_skin_pose(
    node: Runner, chromium: object, tmp_path: Path
) -> None:
    hand = ps.datasets.scanned_hand(vertices=4000)
    examples = replace(hand.examples, heights=hand.heights, levels=1)
    skin = ps.ControlPoints(bones=100).fit(examples)
    ps.export(skin, tmp_path / "hand.html")
    page = DragPage(chromium, tmp_path / "hand.html", skin)
    for point in (0, 5, 10):
        page.drag(point, BY)
        assert page.error() < 1e-4
    page.close()
