"""The studio's panels in a real browser: what they show is what the library computes, and fits are real."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posespace as ps
from posespace.errors import InputError
from posespace.skin.skin import Skin
from posespace.studio.figures import edited, figures, singular_values
from posespace.studio.fitting import Fitted, Fitting
from posespace.studio.methods import methods_figures

PLAYER = Path(__file__).parents[2] / "player"
PATIENCE = 600
HTML = "<img src=x onerror='window.hacked = 1'>"


class Server:
    """Answers the panels as the studio's server does, with real figures and real fits."""

    def __init__(self, examples: ps.Examples, skin: Skin, folder: Path) -> None:
        self.examples, self.fitted, self.skin = examples, skin, skin
        self.store = folder / "hand.examples"
        self.fitting = Fitting(folder)
        self.scales: dict[str | int, float] = {}
        self.asked: list[tuple[str, Any]] = []
        self.events: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()

    def answer(self, what: str, data: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((what, data))
        try:
            words, arrays = getattr(self, f"do_{what}")(**data)
        except InputError as error:
            return {"ok": {}, "floats": {}, "error": str(error)}
        return {"ok": words, "floats": {name: array.ravel().tolist() for name, array in arrays.items()}}

    def do_figures(self, what: str, **asked: Any) -> Any:
        if what == "methods":
            return {"methods": methods_figures()}, {}
        if what == "fits":
            fits = [result.figures() for result in self.fitting.results]
            past = {"running": self.fitting.running, "current": None, "method": self.skin.about["method"]}
            return {"fits": fits, **past}, {}
        return figures(what, self.skin, self.examples.motion, asked, self.scales)

    def do_fit(self, method: str, settings: dict[str, Any]) -> Any:
        self.fitting.start(self.store, method, settings, self.done, self.progress)
        return {"started": True}, {}

    def do_cancel(self) -> Any:
        if cancelled := self.fitting.cancel():
            self.events.put(("cancelled", {}))
        return {"cancelled": cancelled}, {}

    def do_take_fit(self, number: int) -> Any:
        return {"did": f"took fit {number}"}, {}

    def do_edit_skin(self, scales: dict[str | int, float]) -> Any:
        self.scales, self.skin = scales, edited(self.fitted, scales)
        return {"did": "scaled signals"}, {}

    def done(self, outcome: Fitted | InputError) -> None:
        if isinstance(outcome, Fitted):
            self.events.put(("fitted", outcome.figures()))
        else:
            self.events.put(("failed", {"error": str(outcome)}))

    def progress(self, what: str, done: int, count: int | None) -> None:
        self.events.put(("progress", {"what": what, "done": done, "count": count}))


class Panels:
    """A page with panels, and the server behind them."""

    def __init__(self, page: Any, server: Server) -> None:
        self.page, self.server = page, server

    def pass_on(self, event: str) -> dict[str, Any]:
        """Pass events on to the page until one of a kind has been; return what it said."""
        while True:
            name, data = self.server.events.get(timeout=PATIENCE)
            self.page.evaluate("([name, data]) => hear(name, data)", [name, data])
            if name == event:
                return data

    def text(self, select: str) -> str:
        return str(self.page.locator(select).inner_text())

    def colours(self) -> Any:
        """The colour of each vertex (N, 3) in linear light, none where the file's are shown."""
        found = self.page.evaluate("[...(stage.meshes[0].geometry.getAttribute('color')?.array ?? [])]")
        return np.array(found).reshape(-1, 3)


@pytest.fixture(scope="module")
def shown(
    bundled: Callable[..., str], opened: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Panels]]:
    script = bundled(PLAYER / "tests" / "panels.ts")
    style = "".join((PLAYER / file).read_text() for file in ("page/page.css", "studio/panels.css"))
    made: list[Panels] = []

    def show(examples: ps.Examples, skin: Skin, *names: str, editor: bool = True) -> Panels:
        folder = tmp_path_factory.mktemp("panels")
        server = Server(examples, skin, folder)
        examples.save(server.store)
        ps.export(skin, folder / "skin.glb")
        page = opened(script, {"skin.glb": (folder / "skin.glb").read_bytes()})
        page.set_viewport_size({"width": 1280, "height": 800})
        page.add_style_tag(content=style)
        page.expose_function("ask", server.answer)
        page.evaluate("([names, editor]) => open(names, editor)", [list(names), editor])
        page.wait_for_selector("body[data-drawn]")
        made.append(Panels(page, server))
        return made[-1]

    yield show
    for panels in made:
        panels.server.fitting.cancel()
        panels.page.close()


@pytest.fixture(scope="module")
def hand() -> ps.Examples:
    return ps.datasets.hand()[0]


@pytest.fixture(scope="module")
def eigenskin(hand: ps.Examples) -> Skin:
    return ps.EigenSkin(components=4).fit(hand)


def test_a_fit_shows_progress_can_be_cancelled_and_is_listed(
    shown: Callable[..., Panels], hand: ps.Examples, eigenskin: Skin
) -> None:
    panels = shown(hand, eigenskin, "fit")
    page, server = panels.page, panels.server
    page.wait_for_selector(".setting")
    page.locator(".setting", has_text="components").locator("input").fill("2")
    page.get_by_role("button", name="fit", exact=True).click()
    server.events.put(server.events.get(timeout=PATIENCE))
    panels.pass_on("progress")
    assert page.locator("progress").is_visible()
    assert page.get_by_role("button", name="fit", exact=True).is_disabled()
    page.get_by_role("button", name="cancel").click()
    panels.pass_on("cancelled")
    assert panels.text(".said") == "Cancelled. The skin is as before."
    assert not server.fitting.running
    for components in ("2", "8"):
        page.locator(".setting", has_text="components").locator("input").fill(components)
        page.get_by_role("button", name="fit", exact=True).click()
        steps = []
        while (event := server.events.get(timeout=PATIENCE))[0] == "progress":
            page.evaluate("([name, data]) => hear(name, data)", list(event))
            steps.append(panels.text(".fit-panel .status"))
        assert any(step.startswith("residuals: ") and step.endswith(" of 117") for step in steps)
        page.evaluate("([name, data]) => hear(name, data)", list(event))
    first, second = server.fitting.results
    assert (first.settings, second.settings) == ({"components": 2}, {"components": 8})
    assert page.locator(".fits tbody tr").count() == page.locator(".scatter .dot").count() == 2
    assert "1 eigenskin\ncomponents 2" in panels.text(".fits tbody tr:first-child")
    assert f"Error {float(f'{second.error:.2g}'):g} of plain skinning's" in panels.text(".said")
    assert page.locator(".fits button[aria-pressed=true]").inner_text() == "2 eigenskin"
    page.get_by_role("button", name="1 eigenskin").click()
    assert server.asked[-1] == ("take_fit", {"number": 1})
    assert page.said == []


def test_an_error_of_a_fit_is_shown_as_text(shown: Callable[..., Panels], hand: ps.Examples, eigenskin: Skin) -> None:
    panels = shown(hand, eigenskin, "fit")
    page = panels.page
    page.wait_for_selector(".setting")
    page.get_by_role("button", name="Muscles").click()
    page.locator(".setting", has_text="signals").locator("input").fill("-1")
    page.get_by_role("button", name="fit", exact=True).click()
    page.wait_for_selector(".said .problem")
    assert "signals: expected" in panels.text(".said")
    page.evaluate("(error) => hear('failed', { error })", HTML)
    assert panels.text(".said") == HTML
    assert page.evaluate("window.hacked === undefined")


def test_one_who_looks_on_can_change_nothing(shown: Callable[..., Panels], hand: ps.Examples, eigenskin: Skin) -> None:
    page = shown(hand, eigenskin, "fit", "signals", editor=False).page
    page.wait_for_selector(".setting")
    page.wait_for_selector(".signal")
    assert page.get_by_role("button", name="fit", exact=True).is_disabled()
    assert page.locator(".signal input:enabled").count() == 0
    assert "Another page edits this project." in page.locator(".fit-panel").inner_text()


def test_supports_and_components_colour_the_mesh(
    shown: Callable[..., Panels], hand: ps.Examples, eigenskin: Skin
) -> None:
    panels = shown(hand, eigenskin, "layers")
    page = panels.page
    page.wait_for_selector(".layers-panel li")
    assert page.locator(".layers-panel li").count() == len(eigenskin.layers)
    values = [len(singular_values(eigenskin, layer)[0]) for layer in eigenskin.layers]
    number = int(np.argmax(values))
    layer = eigenskin.layers[number]
    page.locator(".layers-panel li button").nth(number).click()
    page.wait_for_selector(".colour-bar")
    outside = panels.colours()[np.setdiff1d(np.arange(len(hand.rig.mesh.points)), layer.support)]
    assert np.ptp(outside, axis=0).max() < 1e-6
    assert np.ptp(panels.colours(), axis=0).max() > 0.2
    stored = page.locator(".bars g[role=button]")
    assert stored.count() == layer.driver.components
    assert page.locator(".bars .left-out").count() == max(values) - layer.driver.components > 0
    page.locator(".bars g[role=button]").nth(1).click()
    page.wait_for_function("document.querySelector('.colour-bar').textContent.includes(\"displacement: 0 to\")")
    assert page.locator(".bars .chosen").count() == 1
    page.locator(".layers-panel li button").nth(number).click()
    assert page.locator(".colour-bar").count() == page.locator(".bars").count() == 0
    assert len(panels.colours()) == 0
    assert page.said == []


def test_signals_are_drawn_beside_angles_and_can_be_muted(shown: Callable[..., Panels]) -> None:
    examples = ps.datasets.arm_clip()
    skin = ps.Muscles(signals=3).fit(examples)
    panels = shown(examples, skin, "signals")
    page, server = panels.page, panels.server
    page.wait_for_selector(".signal")
    assert page.locator(".signal").count() == skin.layers[0].driver.components == 3
    assert page.locator(".line-chart").count() >= 2
    page.locator(".signal").nth(1).get_by_text("mute").click()
    flat = "[...document.querySelectorAll('.line-chart')][0].querySelectorAll('path')[1].getBBox().height === 0"
    page.wait_for_function(flat)
    name = f"{skin.layers[0].name}:2"
    assert server.scales[name] == 0
    page.evaluate("hear('skin', {})")
    slider = page.locator(".signal").nth(1).locator("input[type=range]")
    slider.evaluate("(input) => { input.value = 0.5; input.dispatchEvent(new Event('input', { bubbles: true })); }")
    page.wait_for_function(f"!({flat})")
    assert server.scales == {f"{skin.layers[0].name}:{k + 1}": (0.5 if k == 1 else 1) for k in range(3)}
    assert not page.locator(".signal").nth(1).locator("input[type=checkbox]").is_checked()
    assert page.said == []
