"""The page of a skin, opened from disk in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Runner
from helpers.arm_page import HTML, NAME, arm, exported, fitted, opened, picture
from helpers.commands import run

import posespace as ps
from posespace.formats import viewer

FOREARM, HAND = 2, 1
"""The rows of the joints in the tree, counted from the last one."""


@pytest.fixture(scope="module")
def file(node: Runner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(fitted(), tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def page(file: Path, chromium: Any) -> Iterator[Any]:
    shown = opened(chromium, file)
    yield shown
    shown.close()


def shown(select: Any) -> str:
    """What a list reads."""
    return str(select.evaluate("(list) => list.selectedOptions[0].textContent"))


def drag(slider: Any, value: float) -> None:
    slider.evaluate(f"(input) => {{ input.value = {value}; input.dispatchEvent(new Event('input')); }}")


def sliders_of(page: Any, joint: int) -> Any:
    """The sliders of the joint in a row of the tree, counted from the last one."""
    page.locator(".joint-tree li").nth(-joint).click()
    return page.locator(".joint-angles .slider")


def test_it_opens_from_disk_and_says_nothing(page: Any, file: Path) -> None:
    assert page.said == []
    assert page.asked[0] == file.as_uri()
    assert all(url.startswith(("file:", "blob:", "data:")) for url in page.asked)


def test_names_are_text_and_never_html(page: Any) -> None:
    assert page.locator("h1").text_content() == NAME.removesuffix(".html")
    assert page.locator(".joint-tree li").last.get_attribute("aria-label") == f"hand.l {HTML}"
    assert page.locator("option:not([hidden])").last.text_content().count(HTML) == 1
    assert page.locator("#panel img, #panel script").count() == 0
    assert page.evaluate("window.hacked") is None


INJECT = """(tag) => {
    const made = document.createElement(tag);
    made.textContent = tag === "script" ? "window.hacked = 1" : "body { color: rgb(1, 2, 3) }";
    document.body.append(made);
    const link = document.createElement("a");
    link.setAttribute("onclick", "window.hacked = 1");
    document.body.append(link);
    link.click();
    return [window.hacked === 1, getComputedStyle(document.body).color === "rgb(1, 2, 3)"];
}"""


def test_no_script_runs_but_the_pages_own(file: Path, chromium: Any) -> None:
    opened = chromium.new_page()
    opened.goto(file.as_uri())
    opened.wait_for_selector("body[data-ready=yes]")
    policy = opened.locator("meta[http-equiv]").get_attribute("content")
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 2
    assert opened.evaluate(INJECT, "script") == [False, False]
    assert opened.evaluate(INJECT, "style") == [False, False]
    opened.close()


@pytest.mark.parametrize("coloured", [False, True])
def test_views_show_plain_skinning_beside_the_skin(page: Any, coloured: bool) -> None:
    page.select_option("select >> nth=1", index=3)
    if coloured:
        page.keyboard.press("h")
    views = {}
    for name in ("skin", "plain", "split", "overlay"):
        page.click(f".choice button:text-is('{name}')")
        views[name] = picture(page)
    half = views["skin"].shape[1] // 2
    assert np.abs(views["skin"] - views["plain"]).max() > 60
    assert np.abs(views["split"][:, : half - 2] - views["plain"][:, : half - 2]).max() < 10
    assert np.abs(views["split"][:, half + 2 :] - views["skin"][:, half + 2 :]).max() < 10
    assert np.abs(views["overlay"] - views["skin"]).max() > 20
    page.keyboard.press("1")
    assert page.locator(".views button:text-is('skin')").get_attribute("aria-pressed") == "true"
    if coloured:
        page.keyboard.press("h")


def test_errors_are_shown_as_colours_where_the_truth_is_known(page: Any) -> None:
    page.select_option("select >> nth=1", index=3)
    # Plain skinning has the large errors.
    page.keyboard.press("2")
    before = picture(page)
    page.keyboard.press("h")
    after = picture(page)
    page.keyboard.press("h")
    assert np.abs(after - before).max() > 60
    assert np.abs(picture(page) - before).max() < 10
    page.keyboard.press("1")


def test_joints_turn_by_sliders_and_rest_again(page: Any) -> None:
    page.keyboard.press("r")
    still = picture(page)
    drag(sliders_of(page, FOREARM).locator("input"), 90)
    page.evaluate("posespace.stage.joints.select(-1)")
    assert np.abs(picture(page) - still).max() > 60
    page.keyboard.press("r")
    assert np.abs(picture(page) - still).max() < 10
    assert page.said == []


def test_sliders_follow_the_pose_of_the_list_and_move_on_from_it(page: Any) -> None:
    page.select_option("select >> nth=1", index=3)
    name = shown(page.locator("select >> nth=1"))
    bend, twist = (float(word) for word in name.split()[1:4:2])
    for joint, angle in ((FOREARM, bend), (HAND, twist)):
        slider = sliders_of(page, joint)
        assert slider.count() == 1
        assert float(slider.locator("input").input_value()) == pytest.approx(angle, abs=0.8)
        assert slider.locator("output").text_content().endswith("°")
    drag(slider.locator("input"), 20)
    turned = page.evaluate(
        "posespace.stage.posing.rests.map(({ bone, rotation }) =>"
        " 114.592 * Math.acos(Math.abs(rotation.dot(bone.quaternion))))"
    )
    assert sorted(turned)[-2:] == pytest.approx(sorted([20, bend]), abs=0.8)
    assert shown(page.locator("select >> nth=1")) == "posed by hand"
    page.select_option("select >> nth=1", value="-1")
    assert [sliders_of(page, joint).locator("output").text_content() for joint in (FOREARM, HAND)] == ["0°", "0°"]


def test_errors_that_are_not_known_are_said_to_be(page: Any) -> None:
    page.keyboard.press("r")
    page.keyboard.press("h")
    assert "choose one" in page.locator(".legend").text_content()
    page.select_option("select >> nth=1", index=3)
    assert page.locator(".legend").is_hidden()
    assert page.locator(".colour-bar").is_visible()
    assert page.locator(".colour-bar figcaption").text_content().endswith(" mm or more")
    ticks = [float(tick.text_content()) for tick in page.locator(".colour-bar .ticks span").all()]
    assert ticks[0] == 0
    assert len(set(np.diff(ticks).round(9))) == 1
    drag(sliders_of(page, FOREARM).locator("input"), 10)
    assert "choose one" in page.locator(".legend").text_content()
    page.keyboard.press("h")
    assert page.locator(".legend").is_hidden()
    assert page.locator(".colour-bar").is_hidden()


def test_a_clip_has_a_time_in_seconds_and_stops_where_a_hand_takes_over(page: Any) -> None:
    page.keyboard.press("r")
    page.select_option("select >> nth=0", index=1)
    assert shown(page.locator("select >> nth=1")) == "playing a clip"
    seconds = page.evaluate("posespace.stage.posing.clips[0].duration")
    frames, said = page.locator("#timeline input"), page.locator("#timeline output")
    rate = page.evaluate("posespace.stage.posing.line.rate")
    assert float(frames.get_attribute("max")) / rate == pytest.approx(seconds, abs=0.01)
    drag(frames, round(0.4 * rate))
    assert float(said.text_content().split()[0]) == pytest.approx(0.4, abs=0.5 / rate)
    before = sliders_of(page, FOREARM).locator("output").text_content()
    drag(sliders_of(page, HAND).locator("input"), 20)
    assert sliders_of(page, HAND).locator("output").text_content() == "20°"
    assert sliders_of(page, FOREARM).locator("output").text_content() == before
    assert page.locator("#timeline button >> nth=1").text_content() == "play"
    assert shown(page.locator("select >> nth=1")) == "posed by hand"
    assert page.said == []


ADD_TOOL = """() => {
    const { stage } = posespace;
    const calls = window.calls = {};
    const count = (name) => { calls[name] = (calls[name] ?? 0) + 1; };
    const tool = {
        mount: (stage, panel) => panel.button("poke", "p", () => count("poked")),
        changed: () => count("changed"),
        update: ({ seconds }) => seconds >= 0 && count("updated"),
        beforeDraw: ({ name }) => count(`drawn ${name}`),
        dispose: () => count("disposed"),
    };
    stage.add(tool);
    window.removeTool = () => stage.remove(tool);
}"""


def test_a_tool_is_added_and_taken_away(page: Any) -> None:
    before = page.locator("#panel").inner_html()
    page.evaluate(ADD_TOOL)
    assert "p\xa0poke" in page.locator(".keys").text_content()
    page.keyboard.press("p")
    page.click("button:text-is('poke')")
    page.keyboard.press("3")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("[calls.updated > 0, calls['drawn skin'] > 0, calls['drawn plain'] > 0]") == [True] * 3
    page.keyboard.press("1")
    assert page.evaluate("[calls.poked, calls.changed >= 2, calls.disposed]") == [2, True, None]
    page.evaluate("removeTool()")
    page.keyboard.press("p")
    assert page.evaluate("[calls.poked, calls.disposed]") == [2, 1]
    assert page.locator("#panel").inner_html() == before


def test_key_poses_of_joints_are_saved_and_read(page: Any, tmp_path: Path) -> None:
    page.keyboard.press("r")
    page.keyboard.press("k")
    drag(sliders_of(page, FOREARM).locator("input"), 45)
    page.keyboard.press("k")
    with page.expect_download() as download:
        page.click("button:text-is('save poses')")
    download.value.save_as(tmp_path / "poses.json")
    skeleton = arm()[0].rig.skeleton
    rest, bent = ps.load_motion(tmp_path / "poses.json", skeleton).rotations
    assert np.abs(rest - skeleton.rest_rotations).max() < 1e-6
    angles = 2 * np.degrees(np.arccos(np.abs((rest * bent).sum(axis=1)).clip(0, 1)))
    assert sorted(angles)[-2:] == pytest.approx([0, 45], abs=0.1)


def test_the_command_says_what_it_wrote(node: Runner, tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    ps.Skin(train.rig).save(tmp_path / "arm.skin")
    done = run("export", "arm.skin", "-o", "arm.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("arm.html")


def test_a_page_that_was_not_built_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(viewer, "PAGE", tmp_path / "none.html")
    skin = ps.Skin(ps.datasets.bending_arm(rings=8, sides=6)[0].rig)
    with pytest.raises(ps.FileError, match="the page was not built when posespace was installed; install Node"):
        ps.export(skin, tmp_path / "a.html")


def test_a_pose_at_which_plain_skinning_is_better_is_marked(node: Runner, tmp_path: Path, chromium: Any) -> None:
    train, unseen = ps.datasets.bending_arm(rings=14, sides=9)
    skin = ps.EigenSkin(normals="shared").fit(train).edited(exaggerate=-2)
    ps.export(skin, tmp_path / "worse.html", examples=unseen)
    opened = chromium.new_page()
    opened.goto((tmp_path / "worse.html").as_uri())
    opened.wait_for_selector("body[data-ready=yes]")
    listed = opened.locator("option", has_text="(worse than plain skinning)")
    assert listed.count() == len(unseen)
    opened.select_option("select:has-text('rest pose')", value=listed.first.get_attribute("value"))
    opened.keyboard.press("h")
    assert "worse than plain skinning here: " in opened.text_content(".legend")
    opened.close()
