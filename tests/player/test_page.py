"""The page of a skin, opened from disk in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Runner
from helpers.commands import run
from PIL import Image

import posespace as ps
from posespace.formats import viewer

HTML = "<img src=x onerror='window.hacked = 1'></script><script>window.hacked = 1</script>"
NAME = "arm <img src=x onerror=alert(1)>.html"


@pytest.fixture(scope="module")
def file(node: Runner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    train, unseen = (_renamed(each) for each in ps.datasets.bending_arm(rings=14, sides=9))
    skin = ps.EigenSkin(normals="shared").fit(train)
    path = tmp_path_factory.mktemp("page") / NAME
    ps.export(skin, path, unseen.motion, examples=unseen)
    return path


def _renamed(examples: ps.Examples) -> ps.Examples:
    """Joints and poses with names that would be elements if a page took them for HTML."""
    skeleton = examples.rig.skeleton
    named = replace(skeleton, names=tuple(f"{name} {HTML}" for name in skeleton.names))
    motion = replace(examples.motion, names=tuple(f"{name} {HTML}" for name in examples.motion.names))
    return replace(examples, rig=replace(examples.rig, skeleton=named), motion=motion)


@pytest.fixture(scope="module")
def page(file: Path, chromium: Any) -> Iterator[Any]:
    opened = chromium.new_page(viewport={"width": 900, "height": 600})
    opened.said = []
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.asked = []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.goto(file.as_uri())
    opened.wait_for_selector("body[data-ready=yes]")
    opened.evaluate("posespace.stage.play(null)")
    yield opened
    opened.close()


def picture(page: Any, folder: Path) -> Any:
    """What the stage shows, below the words that name the two halves."""
    page.evaluate("posespace.stage.draw()")
    page.locator("#stage").screenshot(path=folder / "shot.png")
    return np.asarray(Image.open(folder / "shot.png").convert("RGB")).astype(int)[60:]


def test_it_opens_from_disk_and_says_nothing(page: Any, file: Path) -> None:
    assert page.said == []
    assert page.asked[0] == file.as_uri()
    assert all(url.startswith(("file:", "blob:", "data:")) for url in page.asked)


def test_names_are_text_and_never_html(page: Any) -> None:
    assert page.locator("h1").text_content() == NAME.removesuffix(".html")
    assert "<img" in page.locator("summary").last.text_content()  # three.js takes some letters out of names
    assert page.locator("option").last.text_content().endswith(HTML)
    assert page.locator("#panel img, #panel script").count() == 0
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("coloured", [False, True])
def test_views_show_plain_skinning_beside_the_skin(page: Any, coloured: bool, tmp_path: Path) -> None:
    page.select_option("select >> nth=1", index=3)
    if coloured:
        page.keyboard.press("h")
    views = {}
    for name in ("skin", "plain", "split", "overlay"):
        page.click(f".choice button:text-is('{name}')")
        views[name] = picture(page, tmp_path)
    half = views["skin"].shape[1] // 2
    assert np.abs(views["skin"] - views["plain"]).max() > 60
    assert np.abs(views["split"][:, : half - 2] - views["plain"][:, : half - 2]).max() < 10
    assert np.abs(views["split"][:, half + 2 :] - views["skin"][:, half + 2 :]).max() < 10
    assert np.abs(views["overlay"] - views["skin"]).max() > 20
    page.keyboard.press("1")
    assert page.locator("body").get_attribute("data-view") == "skin"
    if coloured:
        page.keyboard.press("h")


def test_errors_are_shown_as_colours_where_the_truth_is_known(page: Any, tmp_path: Path) -> None:
    page.select_option("select >> nth=1", index=3)
    before = picture(page, tmp_path)
    page.keyboard.press("h")
    after = picture(page, tmp_path)
    page.keyboard.press("h")
    assert np.abs(after - before).max() > 60
    assert np.abs(picture(page, tmp_path) - before).max() < 10


def test_joints_turn_by_sliders_and_rest_again(page: Any, tmp_path: Path) -> None:
    page.keyboard.press("r")
    still = picture(page, tmp_path)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    slider = page.locator("details input[type=range] >> nth=0")
    slider.evaluate("(input) => { input.value = input.max; input.dispatchEvent(new Event('input')); }")
    assert np.abs(picture(page, tmp_path) - still).max() > 60
    page.keyboard.press("r")
    assert np.abs(picture(page, tmp_path) - still).max() < 10
    assert page.said == []


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
