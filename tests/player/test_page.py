"""The page of a skin, opened from disk in a real browser."""

from __future__ import annotations

import base64
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
def unseen() -> ps.Examples:
    return _renamed(ps.datasets.bending_arm(rings=14, sides=9)[1])


@pytest.fixture(scope="module")
def skin() -> ps.Skin:
    return ps.EigenSkin(normals="shared").fit(_renamed(ps.datasets.bending_arm(rings=14, sides=9)[0]))


@pytest.fixture(scope="module")
def file(node: Runner, skin: ps.Skin, unseen: ps.Examples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / NAME
    ps.export(skin, path, unseen.motion, examples=unseen)
    return path


def _renamed(examples: ps.Examples) -> ps.Examples:
    """Joints and poses with names that would be elements if a page took them for HTML."""
    skeleton = examples.rig.skeleton
    named = replace(skeleton, names=tuple(f"{name}.l {HTML}" for name in skeleton.names))
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
    opened.evaluate("posespace.stage.posing.rest()")
    yield opened
    opened.close()


def shown(select: Any) -> str:
    """What a list reads."""
    return str(select.evaluate("(list) => list.selectedOptions[0].textContent"))


def drag(slider: Any, value: float) -> None:
    slider.evaluate(f"(input) => {{ input.value = {value}; input.dispatchEvent(new Event('input')); }}")


def open_joints(page: Any) -> Any:
    """The sliders of the joints, all of them seen."""
    # The browser tells of an opened group later: the page shows its angles then.
    page.evaluate(
        """() => Promise.all([...document.querySelectorAll('details:not([open])')].map((each) => new Promise((told) => {
            each.addEventListener('toggle', told, { once: true });
            each.open = true;
        })))"""
    )
    return page.locator("details .slider")


def picture(page: Any, folder: Path) -> Any:
    """What the stage draws, without what lies over it."""
    page.evaluate("posespace.stage.draw()")
    drawn = page.evaluate("posespace.stage.renderer.domElement.toDataURL().split(',')[1]")
    (folder / "shot.png").write_bytes(base64.b64decode(drawn))
    return np.asarray(Image.open(folder / "shot.png").convert("RGB")).astype(int)


def test_it_opens_from_disk_and_says_nothing(page: Any, file: Path) -> None:
    assert page.said == []
    assert page.asked[0] == file.as_uri()
    assert all(url.startswith(("file:", "blob:", "data:")) for url in page.asked)


def test_names_are_text_and_never_html(page: Any) -> None:
    assert page.locator("h1").text_content() == NAME.removesuffix(".html")
    assert page.locator("summary").last.text_content() == f"hand.l {HTML}"
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
    assert page.locator(".views button:text-is('skin')").get_attribute("aria-pressed") == "true"
    if coloured:
        page.keyboard.press("h")


def test_errors_are_shown_as_colours_where_the_truth_is_known(page: Any, tmp_path: Path) -> None:
    page.select_option("select >> nth=1", index=3)
    # Plain skinning has the large errors.
    page.keyboard.press("2")
    before = picture(page, tmp_path)
    page.keyboard.press("h")
    after = picture(page, tmp_path)
    page.keyboard.press("h")
    assert np.abs(after - before).max() > 60
    assert np.abs(picture(page, tmp_path) - before).max() < 10
    page.keyboard.press("1")


def test_the_divider_is_dragged_and_moved_by_keys(page: Any, tmp_path: Path) -> None:
    page.select_option("select >> nth=1", index=3)
    views = {}
    for name in ("skin", "plain", "split"):
        page.click(f".choice button:text-is('{name}')")
        views[name] = picture(page, tmp_path)
    box = page.locator("#stage").bounding_box()
    divider = page.locator(".divider")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60, steps=4)
    page.mouse.up()
    assert float(divider.get_attribute("aria-valuenow")) == pytest.approx(30, abs=1)
    camera = page.evaluate("posespace.stage.camera.position.toArray()")
    cut, shown = round(0.3 * views["skin"].shape[1]), picture(page, tmp_path)
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


def test_a_source_that_a_tool_adds_is_shown_and_compared(page: Any, tmp_path: Path) -> None:
    page.keyboard.press("r")
    page.keyboard.press("1")
    # Both sides have the shadow of the left one.
    page.keyboard.press("g")
    skin = picture(page, tmp_path)
    page.evaluate(ADD_SOURCE)
    page.keyboard.press("5")
    assert page.locator(".views button:text-is('truth')").get_attribute("aria-pressed") == "true"
    alone = picture(page, tmp_path)
    assert np.abs(alone - skin).max() > 60
    page.keyboard.press("3")
    page.select_option(".sides select >> nth=0", "truth")
    assert page.locator(".side-label.left").text_content() == "the truth"
    half, split = skin.shape[1] // 2, picture(page, tmp_path)
    assert np.abs(split[:, : half - 2] - alone[:, : half - 2]).max() < 10
    assert np.abs(split[:, half + 2 :] - skin[:, half + 2 :]).max() < 10
    page.evaluate("removeSource()")
    page.keyboard.press("1")
    assert np.abs(picture(page, tmp_path) - skin).max() < 10
    assert page.locator(".views button").count() == 4
    assert page.locator(".sides select").count() == 0
    page.keyboard.press("g")


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


def test_a_shadow_lies_on_the_ground_and_nowhere_else(page: Any, tmp_path: Path) -> None:
    page.keyboard.press("r")
    page.keyboard.press("1")
    with_shadow = picture(page, tmp_path)
    page.keyboard.press("g")
    without = picture(page, tmp_path)
    background = np.abs(without - without[2, 2]).max(axis=2) < 2
    darker = (without - with_shadow).min(axis=2)
    assert darker[background].max() > 15
    # But for pixels of its outline, the arm is as it was.
    assert (np.abs(with_shadow - without)[~background] > 2).mean() < 0.1
    page.keyboard.press("g")
    assert np.abs(picture(page, tmp_path) - with_shadow).max() < 2


def test_clay_and_the_background_are_chosen_and_taken_back(page: Any, tmp_path: Path) -> None:
    page.keyboard.press("r")
    before = picture(page, tmp_path)
    for key in ("m", "b"):
        page.keyboard.press(key)
        assert np.abs(picture(page, tmp_path) - before).max() > 20
        page.keyboard.press(key)
        assert np.abs(picture(page, tmp_path) - before).max() < 2


def test_joints_turn_by_sliders_and_rest_again(page: Any, tmp_path: Path) -> None:
    page.keyboard.press("r")
    still = picture(page, tmp_path)
    drag(open_joints(page).locator("input").first, 90)
    assert np.abs(picture(page, tmp_path) - still).max() > 60
    page.keyboard.press("r")
    assert np.abs(picture(page, tmp_path) - still).max() < 10
    assert page.said == []


def test_sliders_follow_the_pose_of_the_list_and_move_on_from_it(page: Any) -> None:
    page.select_option("select >> nth=1", index=3)
    name = shown(page.locator("select >> nth=1"))
    bend, twist = (float(word) for word in name.split()[1:4:2])
    sliders = open_joints(page)
    assert sliders.count() == 2
    for slider, angle in zip(sliders.all(), (bend, twist), strict=True):
        assert float(slider.locator("input").input_value()) == pytest.approx(angle, abs=0.8)
        assert slider.locator("output").text_content().endswith("°")
    drag(sliders.last.locator("input"), 20)
    turned = page.evaluate(
        "posespace.stage.posing.rests.map(({ bone, rotation }) =>"
        " 114.592 * Math.acos(Math.abs(rotation.dot(bone.quaternion))))"
    )
    assert sorted(turned)[-2:] == pytest.approx(sorted([20, bend]), abs=0.8)
    assert shown(page.locator("select >> nth=1")) == "posed by hand"
    page.select_option("select >> nth=1", value="-1")
    assert [slider.locator("output").text_content() for slider in sliders.all()] == ["0°", "0°"]


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
    drag(open_joints(page).locator("input").first, 10)
    assert "choose one" in page.locator(".legend").text_content()
    page.keyboard.press("h")
    assert page.locator(".legend").is_hidden()
    assert page.locator(".colour-bar").is_hidden()


def test_a_clip_has_a_time_in_seconds_and_stops_where_a_hand_takes_over(page: Any) -> None:
    page.keyboard.press("r")
    time, pause = page.locator(".slider", has_text="time"), page.locator("button[title='key space']").first
    time.wait_for(state="hidden")
    assert pause.is_hidden()
    page.select_option("select >> nth=0", index=1)
    time.wait_for(state="visible")
    assert shown(page.locator("select >> nth=1")) == "playing a clip"
    seconds = page.evaluate("posespace.stage.posing.clips[0].duration")
    assert float(time.locator("input").get_attribute("max")) == pytest.approx(seconds, abs=0.01)
    for words, pressed in (("pause", "true"), ("play", "false"), ("pause", "true")):
        assert (pause.text_content(), pause.get_attribute("aria-pressed")) == (words, pressed)
        page.keyboard.press("Space")
    drag(time.locator("input"), 0.4)
    page.wait_for_function("document.querySelector('.slider output').textContent === '0.4 s'")
    sliders = open_joints(page)
    before = [slider.locator("output").text_content() for slider in sliders.all()]
    drag(sliders.last.locator("input"), 20)
    assert [slider.locator("output").text_content() for slider in sliders.all()] == [before[0], "20°"]
    time.wait_for(state="hidden")
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
    drag(open_joints(page).locator("input").first, 45)
    page.keyboard.press("k")
    with page.expect_download() as download:
        page.click("button:text-is('save poses')")
    download.value.save_as(tmp_path / "poses.json")
    skeleton = _renamed(ps.datasets.bending_arm(rings=14, sides=9)[0]).rig.skeleton
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
