"""The accuracy report: its page is whole, harmless and readable in a real browser; plots and views by themselves."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from helpers.browsing import opened_chromium

from posespace import datasets
from posespace.errors import FileError, InputError
from posespace.evaluation.compare import compare, seen_note
from posespace.evaluation.levels import error_by_level
from posespace.evaluation.score import evaluate
from posespace.examples import Examples
from posespace.fit.muscles.muscles import Muscles
from posespace.interpolate.rbf import RBF
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.poses.digests import pose_digests
from posespace.poses.spaces import PoseSpace
from posespace.report.accuracy import write_report
from posespace.report.camera import Camera
from posespace.report.layers import displacement_colours, energies, reach, short_name
from posespace.report.plot import Line, line_plot
from posespace.report.signals import signals
from posespace.report.views import finer, looking_at, picture, worst_poses
from posespace.rivals.plain_psd import PlainPSD
from posespace.skin.driver import Driver
from posespace.skin.edit import edit_factors
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

TRAIN, UNSEEN = datasets.bending_arm(rings=16, sides=8)
EVIL = "<script>alert(1)</script> & \"'"


def eigen(examples: Examples) -> Skin:
    """A skin of principal components in order, as EigenSkin's layers are."""
    space = PoseSpace("joint", ("forearm", "hand"))
    residuals = np.stack([examples.residual(k)[0] for k in range(len(examples))])
    u, d, vt = np.linalg.svd(residuals.reshape(len(examples), -1), full_matrices=False)
    where = space.coordinates(examples.motion, examples.rig.skeleton)
    driver = Driver(space, RBF("exponential").fit(where, (u * d)[:, :6], space.metric))
    count = len(examples.rig.mesh.points)
    layer = Layer("arm", driver, np.arange(count), vt[:6].reshape(6, count, 3).astype(np.float32))
    about = {"method": "eigenskin", "poses": pose_digests(examples.motion, examples.rig.skeleton)}
    return Skin(examples.rig, (layer,), about=about)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    few = UNSEEN[:6]
    names = (EVIL, *few.motion.names[1:])
    motion = Motion(few.motion.rotations, names=names)
    examples = Examples(few.rig, motion, few.shapes)
    skins = {"eigen": eigen(TRAIN), EVIL: PlainPSD().fit(TRAIN)}
    entries = compare(skins, examples, {"broken": InputError("it lies at the same place")})
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(entries, examples, path)
    assert [entry.name for entry in entries] == ["plain skinning", "eigen", EVIL, "broken"]
    return path


class Tags(HTMLParser):
    """Gathers what a page links to, and checks that its tags close in order."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_well_formed_file_that_links_to_nothing(page: Path) -> None:
    tags = Tags()
    text = page.read_text()
    tags.feed(re.sub(r"<(line|circle|polyline)([^>]*)/>", r"<\1\2></\1>", text))
    assert tags.open == []
    assert "script" not in tags.seen
    assert tags.links
    assert all(link.startswith("data:") for link in tags.links)
    assert "http" not in text.replace("http-equiv", "")
    assert [entry.name for entry in page.parent.iterdir()] == ["report.html"]


def test_the_page_says_everything(page: Path) -> None:
    text = page.read_text()
    for words in (
        "relative error",
        "E_RMS",
        "it lies at the same place",
        "Worst poses",
        "components per layer",
        "Bold: the smallest error",
        " and above <span",
    ):
        assert words in text
    # One picture a shape and worst pose, a support a skin, four displacements a layer.
    assert text.count("<img") == 3 * (1 + 3) + 2 + 2 * 4


def test_joints_have_a_table_where_one_moves_alone(page: Path, tmp_path: Path) -> None:
    assert "Relative error of each joint" not in page.read_text()
    few = TRAIN.named("bend 0 twist 90 *", "bend 48 twist 45 *")
    write_report(compare({}, few), few, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "Relative error of each joint" in text
    assert "<td>hand</td>" in text
    assert "<td>several</td>" in text


def test_the_page_opens_in_a_browser_light_dark_and_narrow(page: Path, browser: str) -> None:
    with opened_chromium(browser) as chromium:
        for width, scheme in ((1200, "light"), (1200, "dark"), (390, "light")):
            tab = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            told: list[str] = []
            tab.on("console", lambda message, told=told: told.append(message.text))
            tab.on("pageerror", lambda error, told=told: told.append(str(error)))
            tab.on("dialog", lambda dialog, told=told: told.append(dialog.message))
            tab.on("request", lambda request, told=told: told.append(request.url))
            tab.goto(page.as_uri())
            assert [entry for entry in told if not entry.startswith(("file:", "data:"))] == []
            assert tab.locator("h1").inner_text() == "Errors of the skins"
            assert tab.evaluate("[...document.images].filter(i => !i.naturalWidth).length") == 0
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate("Math.max(...[...document.querySelectorAll('svg')].map(s => s.clientWidth))") <= width
            assert EVIL in tab.locator("table").first.inner_text()
            paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    few = UNSEEN[:2]
    with pytest.raises(FileError, match=r"none/report.html: cannot be written"):
        write_report(compare({}, few), few, tmp_path / "none" / "report.html")


def test_a_skin_that_fails_keeps_its_row_and_the_note_says_who_saw_what() -> None:
    other = datasets.bending_arm(rings=10, sides=8)[0]
    entries = compare(
        {"seen": eigen(TRAIN), "other": Skin(other.rig), "quiet": replace(PlainPSD().fit(TRAIN), about={})}, TRAIN
    )
    assert "its shapes have 82 vertices" in entries[2].reason
    assert entries[2].figures()["name"] == "other"
    note = seen_note([entry for entry in entries if entry.name != "quiet"])
    assert note == "evaluated on 30 poses; of these, seen saw 30 in its fit"
    assert seen_note([entries[0], entries[3]]).endswith("; quiet has no record of what it was fitted on")
    assert seen_note(compare({}, UNSEEN)) == "evaluated on 25 poses, none of them seen by a fit"


def heights(plot: str) -> list[float]:
    return [float(y) for y in re.findall(r'cy="([\d.]+)"', plot)]


def test_plots_place_points_by_their_scale() -> None:
    linear = heights(line_plot([Line("a", [0, 1, 2], [0.0, 1.0, 2.0])], "x", "y"))
    assert linear[0] - linear[1] == pytest.approx(linear[1] - linear[2], abs=0.2)
    logarithmic = heights(line_plot([Line("a", [0, 1, 2], [0.1, 1.0, 10.0])], "x", "y", log_y=True))
    assert logarithmic[0] - logarithmic[1] == pytest.approx(logarithmic[1] - logarithmic[2], abs=0.2)
    text = line_plot([Line("<a>", [0, 1], [0.0, 1.0], ["p", "q"])], "x & y", "z", log_y=True)
    assert text.count("<circle") == 1  # zero has no logarithm
    assert "&lt;a&gt;: q, 1" in text
    assert "x &amp; y" in text
    for odd in ([], [Line("a", [], [])], [Line("a", [1], [1.0])], [Line("a", [1, 2], [np.nan, np.inf])]):
        assert "nan" not in line_plot(odd, "x", "y", log_x=True, log_y=True).lower()
        assert "<svg" in line_plot(odd, "x", "y")


def test_poses_stand_on_the_axis_by_their_names() -> None:
    names = ["fist <1>", "the pose whose name has no end at all, ever", "point"]
    text = line_plot([Line("a", [0, 1, 2], [1.0, 2.0, 3.0])], "pose", "y", x_names=names)
    shown = re.findall(r'class="name"[^>]*>([^<]*)<', text)
    assert shown == ["fist &lt;1&gt;", "the pose wh…at all, ever", "point"]
    many = line_plot([Line("a", range(400), range(400))], "pose", "y", x_names=[f"pose {k}" for k in range(400)])
    assert 20 <= many.count('class="name"') <= 30
    assert 'class="name"' not in line_plot([Line("a", [0, 1], [1.0, 2.0])], "x", "y")


def test_heat_of_good_skins_is_finer_by_a_round_factor() -> None:
    errors = np.linspace(0, 1, 1000)
    assert [finer(top, errors) for top in (0.5, 1.0, 2.5, 3.0, 40.0, 1e9)] == [1, 1, 2, 3, 30, 100]


def test_a_report_says_both_heat_scales(tmp_path: Path) -> None:
    few = TRAIN[0:30:6]
    write_report(compare({"psd": PlainPSD().fit(TRAIN)}, few), few, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "mesh unit: plain skinning" in text
    assert "the others, on a scale 100 times as fine" in text


def test_levels_have_the_error_of_the_truncated_skin() -> None:
    skin, few = eigen(TRAIN), UNSEEN[:4]
    levels = [0, 1, 3, 6]
    wanted = [evaluate(skin.truncated(level), few).rel_err for level in levels]
    np.testing.assert_allclose(error_by_level(skin, levels, few), wanted, rtol=1e-5)
    np.testing.assert_allclose(error_by_level(skin.packed(16), levels, few), wanted, rtol=1e-2)


def test_the_camera_looks_at_the_error_and_frames_all_shapes() -> None:
    mesh = TRAIN.rig.mesh
    both = np.stack([mesh.points, mesh.points + np.array([0, 1, 0])])
    for axis in ((0.0, 1.0, 0.3), (0.0, -0.5, 1.0), (0.0, 0.2, -1.0)):
        side = np.array(axis) / np.linalg.norm(axis)
        errors = np.maximum(mesh.normals() @ side, 0) ** 2 * (np.abs(mesh.points[:, 0]) < 0.4)
        view = looking_at(both, mesh.triangles, errors)
        assert np.asarray(view.direction) @ side > 0.6
        assert view == Camera.fit(both, view.direction)
    assert looking_at(both, mesh.triangles, np.zeros(len(mesh.points))) == Camera.fit(both)


def test_pictures_are_clear_around_the_mesh() -> None:
    mesh = Mesh(np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]), [[0, 1, 2]])
    image = picture(mesh.points, mesh.triangles, Camera("front", extent=2.0), (64, 64))
    assert image.shape == (64, 64, 4)
    assert image[0, 0, 3] == 0
    assert image[32, 32, 3] == 255
    assert image[32, 32, :3].min() > 100


def test_worst_poses_are_not_neighbours() -> None:
    errors = np.zeros(48)
    errors[[10, 11, 12, 30]] = (3, 5, 4, 1)
    assert worst_poses(errors.tolist(), 2) == [11, 30]
    assert worst_poses([1.0], 3) == [0]


def test_layers_have_short_names() -> None:
    assert short_name("jaw + smile") == "jaw + smile"
    assert short_name("thumb + index + ring") == "thumb + 2 more"
    assert short_name("thumb + index + ring + 16 more") == "thumb + 18 more"
    assert short_name("a + b + c on palm") == "a + 2 more on palm"


def test_layers_in_colours() -> None:
    layer = eigen(TRAIN).layers[0]
    count = len(TRAIN.rig.mesh.points)
    energy = energies(layer)
    assert (np.diff(energy) <= 0).all()
    assert reach(layer, count).shape == (count,)
    colors = displacement_colours(layer, 0, count)
    largest = np.unravel_index(np.abs(layer.basis[0]).argmax(), (count, 3))
    assert abs(colors[largest] - 0.6) == pytest.approx(0.4)
    assert colors.min() >= 0
    assert colors.max() <= 1


def test_signals_stand_beside_the_angles_that_drive_them(tmp_path: Path) -> None:
    skin = Muscles(3).fit(TRAIN)
    write_report(compare({"arm": skin}, UNSEEN), UNSEEN, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "Signals of arm over time" in text
    for words in ("signal 3", "rotation from rest", "forearm", "How many signals", "bytes per vertex"):
        assert words in text
    assert "Signals of" not in section_of(eigen(TRAIN))


def test_an_edited_skin_says_so_and_its_signals_are_drawn_as_they_act(tmp_path: Path) -> None:
    edited = Muscles(3).fit(TRAIN).edited({2: 0.0}, 1.5).edited({"muscles": 2.0})
    few = UNSEEN[:3]
    write_report(compare({"arm": edited}, few), few, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "arm is edited: 2 times 0, everything times 1.5, muscles times 2." in text
    drawn = re.findall(r"signal 2: [^,]*, ([^<]*)<", section_of(edited))
    assert len(drawn) == len(UNSEEN.motion)
    assert all(float(value) == 0 for value in drawn)
    np.testing.assert_array_equal(edit_factors(edited), [[3, 0, 3]])
    np.testing.assert_array_equal(edit_factors(edited.truncated(1)), [[3]])
    assert "is edited" not in section_of(eigen(TRAIN))


def test_lines_break_where_frames_are_missing() -> None:
    skin, kept = Muscles(3).fit(TRAIN), [0, 1, 2, 3, 6, 7, 8]
    entry = compare({"arm": skin}, UNSEEN[:3])[1]
    motion = Motion(UNSEEN.motion.rotations[kept], times=np.array(kept) / 24)
    whole = Motion(motion.rotations)
    # Three signals and two angles, and two lines of left-out errors, which have no frames.
    assert [signals(entry, each).count("<polyline") for each in (motion, whole)] == [2 * 5 + 2, 5 + 2]


def section_of(skin: Skin) -> str:
    return signals(compare({"skin": skin}, UNSEEN[:3])[1], UNSEEN.motion)
