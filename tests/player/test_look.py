"""How the page shows a skin: the shadow, the divider, what tools add to compare, the order of poses, the read-out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import Runner
from helpers.arm_page import arm, exported, fitted, opened, picture

import posespace as ps


@pytest.fixture(scope="module")
def unseen() -> ps.Examples:
    return arm()[1]


@pytest.fixture(scope="module")
def skin() -> ps.Skin:
    return fitted()


@pytest.fixture(scope="module")
def page(node: Runner, skin: ps.Skin, chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    shown = opened(chromium, exported(skin, tmp_path_factory.mktemp("look")))
    yield shown
    assert shown.said == []
    shown.close()


def test_the_divider_is_dragged_and_moved_by_keys(page: Any) -> None:
    page.select_option("select >> nth=1", index=3)
    views = {}
    for name in ("skin", "plain", "split"):
        page.click(f".choice button:text-is('{name}')")
        views[name] = picture(page)
    box = page.locator("#stage").bounding_box()
    divider = page.locator(".divider")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60, steps=4)
    page.mouse.up()
    assert float(divider.get_attribute("aria-valuenow")) == pytest.approx(30, abs=1)
    camera = page.evaluate("posespace.stage.camera.position.toArray()")
    cut, shown = round(0.3 * views["skin"].shape[1]), picture(page)
    assert np.abs(shown[:, : cut - 3] - views["plain"][:, : cut - 3]).max() < 10
    assert np.abs(shown[:, cut + 3 :] - views["skin"][:, cut + 3 :]).max() < 10
    page.keyboard.press("ArrowRight")
    assert float(divider.get_attribute("aria-valuenow")) == pytest.approx(32, abs=1)
    for key, value in (("Home", 2), ("End", 98)):
        page.keyboard.press(key)
        assert divider.get_attribute("aria-valuenow") == f"{value}"
    divider.dblclick(position={"x": 12, "y": 40})
    assert divider.get_attribute("aria-valuenow") == "50"
    assert page.evaluate("posespace.stage.camera.position.toArray()") == camera
    assert [label.text_content() for label in page.locator(".side-label").all()] == ["plain skinning", "the skin"]
    page.keyboard.press("1")
    assert divider.is_hidden()


ADD_SOURCE = """() => {
    const { comparison, scene, meshes } = posespace.stage;
    const hidden = (on) => { for (const mesh of meshes) mesh.visible = !on; };
    const source = { name: "truth", label: "the truth", show: () => hidden(true), hide: () => hidden(false) };
    window.removeSource = comparison.add(source);
}"""


def test_a_source_that_a_tool_adds_is_shown_and_compared(page: Any) -> None:
    page.keyboard.press("r")
    page.keyboard.press("1")
    # Both sides have the shadow of the left one.
    page.keyboard.press("v")
    skin = picture(page)
    page.evaluate(ADD_SOURCE)
    page.keyboard.press("5")
    assert page.locator(".views button:text-is('truth')").get_attribute("aria-pressed") == "true"
    alone = picture(page)
    assert np.abs(alone - skin).max() > 60
    page.keyboard.press("3")
    page.select_option(".sides select >> nth=0", "truth")
    assert page.locator(".side-label.left").text_content() == "the truth"
    half, split = skin.shape[1] // 2, picture(page)
    assert np.abs(split[:, : half - 2] - alone[:, : half - 2]).max() < 10
    assert np.abs(split[:, half + 2 :] - skin[:, half + 2 :]).max() < 10
    page.evaluate("removeSource()")
    page.keyboard.press("1")
    assert np.abs(picture(page) - skin).max() < 10
    assert page.locator(".views button").count() == 4
    assert page.locator(".sides select").count() == 0
    page.keyboard.press("v")


def test_poses_are_listed_by_their_errors(page: Any) -> None:
    def errors() -> list[float]:
        entries = page.locator("select >> nth=1").locator("option:not([hidden])").all_text_contents()[1:]
        return [float(entry.split(" · ")[-1].split()[0]) for entry in entries]

    page.keyboard.press("r")
    before = errors()
    assert before != sorted(before, reverse=True)
    page.click("button:text-is('worst first')")
    assert errors() == sorted(before, reverse=True)
    chosen = page.evaluate("posespace.stage.posing.source")
    assert chosen == {"kind": "listed", "index": int(np.argmax(before))}
    page.keyboard.press("]")
    second = page.evaluate("posespace.stage.posing.source.index")
    assert before[second] == sorted(before)[-2]
    page.keyboard.press("[")
    assert page.evaluate("posespace.stage.posing.source") == chosen
    page.keyboard.press("o")
    assert errors() == before


FOREARM = """() => {
    const { camera, posing, renderer } = posespace.stage;
    const { left, top, width, height } = renderer.domElement.getBoundingClientRect();
    const at = (joint) => posing.rests[joint].bone.getWorldPosition(camera.position.clone());
    const { x, y } = at(1).lerp(at(2), 0.5).project(camera);
    return [left + ((x + 1) * width) / 2, top + ((1 - y) * height) / 2];
}"""


def read_out(page: Any) -> dict[str, str]:
    """What the read-out says, row by row."""
    page.wait_for_selector(".readout:visible")
    words = page.locator(".readout > *").all_text_contents()
    return {"title": words[0], **dict(zip(words[1::2], words[2::2], strict=True))}


def test_a_read_out_tells_of_the_vertex_below_the_pointer(page: Any, skin: ps.Skin, unseen: ps.Examples) -> None:
    page.keyboard.press("r")
    page.keyboard.press("1")
    page.select_option("select >> nth=1", index=4)
    index = page.evaluate("posespace.stage.posing.source.index")
    page.keyboard.press("i")
    page.mouse.move(*page.evaluate(FOREARM))
    rows = read_out(page)
    vertex = int(rows.pop("title").split()[-1])
    pose, rig = unseen.motion[index], skin.rig
    errors = np.linalg.norm([skin.pose(pose)[0] - unseen.shapes[index], rig.skin(pose) - unseen.shapes[index]], axis=2)
    largest = page.evaluate("JSON.parse(document.getElementById('data').textContent).heat.largest")
    for label, error in zip(("the skin", "plain skinning"), 1000 * rig.mesh.unit * errors[:, vertex], strict=True):
        said = float(rows[f"error, {label}"].removeprefix("at least ").split()[0])
        assert said == pytest.approx(min(error, largest), rel=0.06, abs=largest / 200)
    weights = {
        rig.skeleton.names[joint]: weight
        for joint, weight in zip(rig.influences[vertex], rig.weights[vertex], strict=True)
    }
    joints = {
        name.removeprefix("joint "): float(said.removeprefix("< "))
        for name, said in rows.items()
        if "joint " in name[:6]
    }
    assert joints
    for name, weight in joints.items():
        assert weight == pytest.approx(weights[name], abs=0.02)
    layers = sorted(float(said.split()[0]) for name, said in rows.items() if name.startswith("layer "))
    total = 1000 * rig.mesh.unit * np.linalg.norm(skin.displacements(pose)[vertex])
    assert abs(layers[-1] - total) <= sum(layers[:-1]) + 0.06 * total + 0.02
    page.mouse.down()
    assert page.locator(".readout").is_hidden()
    page.mouse.up()
    read_out(page)
    page.keyboard.press("i")
    assert page.locator(".readout").is_hidden()


def test_a_read_out_is_of_the_side_below_the_pointer(page: Any) -> None:
    page.select_option("select >> nth=1", index=4)
    page.keyboard.press("3")
    page.keyboard.press("i")
    page.evaluate("posespace.stage.comparison.divider = 0.9")
    page.mouse.move(*page.evaluate(FOREARM))
    left = read_out(page)
    assert list(left)[1] == "error, plain skinning"
    assert not any(name.startswith("layer") for name in left)
    page.evaluate("posespace.stage.comparison.divider = 0.1")
    assert list(read_out(page))[1] == "error, the skin"
    page.evaluate("posespace.stage.comparison.divider = 0.5")
    page.keyboard.press("i")
    page.keyboard.press("1")


def test_a_shadow_lies_on_the_ground_and_nowhere_else(page: Any) -> None:
    page.keyboard.press("r")
    page.keyboard.press("1")
    with_shadow = picture(page)
    page.keyboard.press("v")
    without = picture(page)
    background = np.abs(without - without[2, 2]).max(axis=2) < 2
    darker = (without - with_shadow).min(axis=2)
    assert darker[background].max() > 15
    # But for pixels of its outline, the arm is as it was.
    assert (np.abs(with_shadow - without)[~background] > 2).mean() < 0.1
    page.keyboard.press("v")
    assert np.abs(picture(page) - with_shadow).max() < 2


def test_clay_and_the_background_are_chosen_and_taken_back(page: Any) -> None:
    page.keyboard.press("r")
    before = picture(page)
    for key in ("m", "l"):
        page.keyboard.press(key)
        assert np.abs(picture(page) - before).max() > 20
        page.keyboard.press(key)
        assert np.abs(picture(page) - before).max() < 2
