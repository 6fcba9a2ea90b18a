"""The documentation: its pages build, its pictures show in a real browser, its code runs, its words are true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import absent
from helpers.browsing import opened_chromium
from helpers.once import made_once

import posespace as ps

ROOT = Path(__file__).parents[1]
WIDE_TABLES = (
    "[...document.querySelectorAll('table')].filter(t => t.scrollWidth > t.parentElement.clientWidth + 1).length"
)

PAGES_ON_AN_ARM = (
    "bring-your-own-rig.md",
    "fit.md",
    "faces.md",
    "evaluate.md",
    "rivals.md",
    "interpolators.md",
    "files.md",
    "export.md",
    "muscles.md",
    "points.md",
    "retarget.md",
    "markers.md",
    "bones.md",
    "transfer.md",
)
PAGES_ON_THE_HAND = ("eigenskin.md", "scans.md")
LONG_PAGES = ("runtime.md", "register.md")
PAGES_ELSEWHERE = ("studio-protocol.md",)
"""Their code is run in other files: that of the studio needs a running one."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
        done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return made_once(tmp_path_factory, "site", build)


@pytest.mark.slow
def test_every_page_shows_in_a_browser_with_its_pictures(site: Path, browser: str) -> None:
    pages = sorted(path for path in site.glob("*.html") if path.name not in ("404.html", "search.html"))
    assert len(pages) >= 6
    with opened_chromium(browser) as chromium:
        page = chromium.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for path in pages:
            page.goto(path.as_uri())
            assert page.locator("h1").first.inner_text()
            broken = page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
            assert broken == [], path.name
            assert page.evaluate(WIDE_TABLES) == 0, path.name
    assert [url for url in asked if not url.startswith("file:")] == []


def python_blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


def test_the_code_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from posespace.formats import pose_json

    train, unseen = ps.datasets.bending_arm(rings=12, sides=8)
    pose_json.write(tmp_path / "poses.json", train.motion, train.rig.skeleton)
    monkeypatch.chdir(tmp_path)
    shapes = np.stack([train.shapes[k] for k in range(len(train))])
    block = python_blocks(ROOT / "README.md")[0].replace('ps.load_rig("hand.glb")', "rig")
    names: dict[str, object] = {"rig": train.rig, "shapes": shapes, "unseen": unseen}
    exec(block, names)
    assert (tmp_path / "hand.skin").exists()


@pytest.mark.parametrize("page", PAGES_ON_AN_ARM)
def test_the_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    rig = train.rig
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {
        "points": rig.mesh.points,
        "triangles": rig.mesh.triangles,
        "weights": rig.dense_weights(),
        "parents": rig.skeleton.parents,
        "rest_world": rig.skeleton.rest_world,
        "names": ("upper_arm", "elbow", "hand"),
        "world": rig.skeleton.world(train.motion.rotations),
        "shapes": np.stack([train.shapes[k] for k in range(len(train))]),
        "mesh": rig.mesh,
        "skeleton": rig.skeleton,
        "values": np.eye(6),
        "my_shape": rig.skin,
    }
    if page != "bring-your-own-rig.md":
        names |= {"rig": rig, "motion": train.motion[::5] if page == "interpolators.md" else train.motion}
    for block in python_blocks(ROOT / "docs" / page):
        exec(block, names)
    if page in ("bring-your-own-rig.md", "files.md"):
        assert len(ps.Examples.open("hand.examples")) == len(train)


@pytest.mark.parametrize(
    "page", [*PAGES_ON_THE_HAND, *(pytest.param(page, marks=pytest.mark.slow) for page in LONG_PAGES)]
)
def test_the_code_about_the_hand_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in python_blocks(ROOT / "docs" / page):
        try:
            exec(block, names)
        except ps.InputError as error:
            if "gpu: no driver" not in str(error):
                raise
            absent("vulkan", str(error))


def test_every_page_with_code_is_run() -> None:
    with_code = {path.name for path in (ROOT / "docs").glob("*.md") if python_blocks(path)}
    assert with_code == {*PAGES_ON_AN_ARM, *PAGES_ON_THE_HAND, *LONG_PAGES, *PAGES_ELSEWHERE}


def test_the_reference_has_every_public_name() -> None:
    pages = "".join(path.read_text() for path in (ROOT / "docs").glob("api-*.md"))
    listed = set(re.findall(r"^::: (\S+)$", pages, re.MULTILINE))
    public = [getattr(ps, name) for name in ps.__all__ if name != "datasets"]
    public += [getattr(ps.datasets, name) for name in ps.datasets.__all__]
    missing = {f"{thing.__module__}.{thing.__qualname__}" for thing in public} - listed
    assert missing == set()


def test_the_reference_says_something_about_every_name(site: Path) -> None:
    empty = re.compile(r'<div class="doc doc-contents[^"]*">\s*(?:<div class="doc doc-children|</div>)')
    for page in sorted(site.glob("api-*.html")):
        text = page.read_text()
        assert not empty.search(text), page.name
        assert "\\*" not in text, page.name


def test_no_page_names_a_machine_or_a_registry() -> None:
    for path in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "src").rglob("*.py"),
        ROOT / "pyproject.toml",
    ]:
        text = path.read_text()
        assert not re.search(r"/root/|/home/|/work/|pypi\.org|pythonhosted|npmjs", text), path
