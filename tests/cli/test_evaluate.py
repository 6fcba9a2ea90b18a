"""The commands `fit` and `evaluate` as a user meets them: real processes on real files."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest
from helpers.commands import assert_one_line, run

import posespace as ps
from posespace import datasets
from posespace.examples import Examples
from posespace.fit.methods import METHODS, described
from posespace.fit.psd.psd import PSD
from posespace.formats.store.example_store import ExampleStore
from posespace.skin.skin import Skin

TRAIN, UNSEEN = datasets.bending_arm(rings=12, sides=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two example stores and a skin of each kind."""
    place = tmp_path_factory.mktemp("arm")
    TRAIN.save(place / "arm.examples")
    UNSEEN.save(place / "unseen.examples")
    assert run("fit", "psd", "arm.examples", "-o", "arm.skin", folder=place).returncode == 0
    Skin(datasets.bending_arm(rings=10, sides=8)[0].rig).save(place / "other.skin")
    return place


def test_help_shows_every_setting_of_a_method_and_an_example() -> None:
    overview = run("fit", "--help").stdout
    assert "Example: posespace fit" in overview
    assert "Example: posespace evaluate" in run("evaluate", "--help").stdout
    for name in METHODS:
        assert name in overview
    text = run("fit", "psd", "--help").stdout
    for setting in fields(PSD):
        # A pose space is no plain value: it is for the library alone.
        assert (f"--{setting.name.replace('_', '-')}" in text) == (setting.name != "space")
    assert "Example: posespace fit psd" in text
    flat = " ".join(text.split())
    assert "gaussian, exponential, multiquadric, thin_plate, linear or cubic" in flat
    assert "by leave-one-out" in flat
    assert "--kernel [gaussian|exponential|multiquadric|thin_plate|linear|cubic]" in flat
    for name, method in METHODS.items():
        shown = " ".join(run("fit", name, "--help").stdout.split())
        for setting in fields(getattr(ps, method)):
            flag = setting.name.replace("_", "-")
            if isinstance(setting.default, bool):
                assert f"--{flag} / --no-{flag}" in shown
    assert "In Python" not in flat


def test_help_comes_from_the_docstring() -> None:
    class Settings:
        """Of a method.

        Parameters
        ----------
        near, far : how near and
            how far
        kind : which : one

        Notes follow.
        """

    expected = {"near": "how near and how far", "far": "how near and how far", "kind": "which : one"}
    assert described(Settings) == expected
    assert set(described(PSD)) == {setting.name for setting in fields(PSD)}


def test_fit_takes_settings_and_poses_and_says_what_it_made(folder: Path) -> None:
    words = ("fit", "psd", "arm.examples", "-o", "some.skin", "--only", "bend 0*", "--only", "bend 48*")
    done = run(*words, "--only", "!* twist 45 *", "--radius", "0.7", "--no-anchor", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["poses_fitted_on"] == 8
    skin = Skin.load(folder / "some.skin")
    assert len(skin.about["poses"]) == 8
    assert found["numbers_excluding_rig"] > 0
    told = run("fit", "psd", "arm.examples", "-o", "told.skin", folder=folder).stdout
    assert "bytes per vertex excluding the rig" in told
    assert re.search(r"\n +forearm: sculpts \d+, radius [\d.]+\n", told)
    assert re.search(r"\n +all \(clip\): poses 20, shrunk to 1\n", told)
    about = json.loads(run("info", "--json", "some.skin", folder=folder).stdout)[0]
    assert about["poses_fitted_on"] == 8
    assert "poses" not in about["about"]


def test_fit_refuses_in_one_line(folder: Path, tmp_path: Path) -> None:
    base = ("fit", "psd", "arm.examples", "-o", str(tmp_path / "x.skin"))
    assert_one_line(run(*base, "--radius", "-1", folder=folder), "radius: expected")
    assert_one_line(run(*base, "--radius", "wide", folder=folder), "--radius")
    kernels = "gaussian, exponential, multiquadric, thin_plate, linear, cubic, got 'gauss'; the closest is 'gaussian'"
    assert_one_line(run(*base, "--kernel", "gauss", folder=folder), f"--kernel: expected one of {kernels}")
    assert_one_line(run(*base, "--kernal", "red", folder=folder), "--kernal", "the closest is '--kernel'")
    assert_one_line(run(*base, "--only", "wrist*", folder=folder), "arm.examples", "matches none of the 30 poses")
    assert_one_line(run("fit", "psd", "none.examples", "-o", "x.skin", folder=folder), "none.examples: does not")
    assert_one_line(run("fit", "psd", "arm.examples", "-o", "no/x.skin", folder=folder), "no/x.skin", "folder")
    assert_one_line(run("fit", "psd", "arm.examples", folder=folder), "--out")
    wrong = run("fit", "psd", "none.examples", "-o", "x.glb", folder=folder)
    assert_one_line(wrong, "out: expected a name that ends in .skin, got x.glb")
    assert_one_line(run("fit", "magic", "arm.examples", "-o", "x.skin", folder=folder), "magic")
    assert_one_line(run("fit", "pds", "arm.examples", folder=folder), "psd, eigenskin", "the closest is 'psd'")
    ExampleStore.create(tmp_path / "empty.examples", TRAIN.rig, TRAIN.motion)
    assert_one_line(run("fit", "psd", "empty.examples", "-o", "x.skin", folder=tmp_path), "no finished pose")
    shutil.copy(folder / "arm.skin", tmp_path / "hand.glb")
    made_by = "not an example store; make one with `posespace examples` (shapes of a rig), `posespace bones` (shapes"
    for given, problem in {"hand.glb": "is a file", "*.glb": "is a pattern of files", ".": "is a folder"}.items():
        done = run("fit", "points", given, "-o", "x.skin", folder=tmp_path)
        assert_one_line(done, f"{given}: {problem}", made_by)
    done = run("fit", "points", folder / "arm.skin", "-o", "x.skin", folder=tmp_path)
    assert_one_line(done, "arm.skin: is a file, not an example store; give the examples")
    assert not (tmp_path / "x.skin").exists()


def test_an_unfinished_store_is_fitted_and_scored_with_one_warning(folder: Path, tmp_path: Path) -> None:
    TRAIN.save(tmp_path / "part.examples")
    for pose in (1, 4):
        (tmp_path / "part.examples" / "marks" / "c" / str(pose)).unlink()
    warning = "posespace: warning: part.examples: 2 of its 30 poses are not finished and are left out\n"
    done = run("fit", "psd", "part.examples", "-o", "part.skin", "--json", folder=tmp_path)
    assert (done.stderr, json.loads(done.stdout)["poses_fitted_on"]) == (warning, 28)
    done = run("evaluate", "part.skin", "part.examples", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, warning)


def test_evaluate_sets_skins_side_by_side(folder: Path) -> None:
    shutil.copy(folder / "arm.skin", folder / "again.skin")
    done = run("evaluate", "arm.skin", "again.skin", "unseen.examples", folder=folder)
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert [line.split("  ")[0].strip() for line in lines[1:4]] == ["plain skinning", "arm", "again"]
    for head in ("rel_err", "rms", "e_rms", "largest", "95 %", "normals°", "bytes/vertex", "numbers", "seen"):
        assert head in lines[0]
    assert "…" not in done.stdout
    assert "evaluated on 25 poses, none of them seen by a fit" in done.stdout
    found = json.loads(run("evaluate", "arm.skin", "unseen.examples", "--json", folder=folder).stdout)
    assert found[0]["rel_err"] == 1
    assert found[1]["rel_err"] < 0.1
    assert (found[1]["seen"], len(found[1]["per_pose"])) == (0, 25)
    seen = json.loads(run("evaluate", "arm.skin", "arm.examples", "--only", "bend 0*", "--json", folder=folder).stdout)
    assert (seen[1]["seen"], seen[1]["poses"]) == (5, 5)


def test_evaluate_fits_the_rivals_and_writes_the_report(folder: Path) -> None:
    words = ("evaluate", "arm.skin", "unseen.examples", "--rivals", "arm.examples", "--report", "report.html", "--json")
    done = run(*words, "--only", "*1", folder=folder)
    assert done.returncode == 0, done.stderr
    found = {row["name"]: row for row in json.loads(done.stdout)}
    assert {"plain skinning", "arm", "dual quaternions", "weighted PSD", "linear in R - I"} <= set(found)
    assert found["plain PSD"]["rel_err"] < 0.1
    assert "</html>" in (folder / "report.html").read_text()


def test_rivals_are_not_fitted_to_poses_chosen_for_evaluation(folder: Path) -> None:
    words = ("evaluate", "unseen.examples", "--rivals", "unseen.examples", "--json")
    done = run(*words, "--only", "*1", folder=folder)
    assert done.returncode == 0, done.stderr
    found = {row["name"]: row for row in json.loads(done.stdout)}
    chosen = found["plain PSD"]["poses"]
    assert f"unseen.examples: {chosen} of its 25 poses are evaluated on; no rival is fitted to them" in done.stderr
    assert found["plain PSD"]["rel_err"] > 1e-3
    assert_one_line(run(*words, "--only", "*", folder=folder), "unseen.examples: all its poses are evaluated on")


def test_a_rival_that_fails_is_shown_failing(folder: Path, tmp_path: Path) -> None:
    rest = Examples.from_shapes(TRAIN.rig, TRAIN.named("bend 0 twist 0 *").motion, [TRAIN.rig.mesh.points])
    rest.save(tmp_path / "rest.examples")
    done = run("evaluate", folder / "unseen.examples", "--rivals", tmp_path / "rest.examples", "--only", "*1")
    assert done.returncode == 0
    assert "Shepard" in done.stdout
    assert "fails" in done.stdout
    assert "Shepard: examples: no pose differs from rest" in done.stderr


def test_evaluate_refuses_in_one_line(folder: Path, tmp_path: Path) -> None:
    assert_one_line(run("evaluate", "other.skin", "unseen.examples", folder=folder), "other.skin", "82 vertices", "98")
    assert_one_line(run("evaluate", "unseen.examples", "arm.skin", folder=folder), "arm.skin", "not an example store")
    assert_one_line(run("evaluate", "none.skin", "unseen.examples", folder=folder), "none.skin")
    assert_one_line(run("evaluate", "arm.skin", "none.examples", folder=folder), "none.examples: does not exist")
    datasets.bending_arm(rings=10, sides=8)[0].save(tmp_path / "other.examples")
    rivals = ("evaluate", folder / "unseen.examples", "--rivals", tmp_path / "other.examples")
    assert_one_line(
        run(*rivals), "other.examples: its shapes have 82 vertices, the examples 98; fit and evaluate on the same mesh"
    )
    (tmp_path / "text.skin").write_text("not a skin at all")
    assert_one_line(run("evaluate", tmp_path / "text.skin", folder / "unseen.examples"), "text.skin", "is not a skin")
    assert_one_line(run("evaluate", "arm.skin", "arm.skin", "unseen.examples", folder=folder), "twice")
    ExampleStore.create(tmp_path / "empty.examples", TRAIN.rig, TRAIN.motion)
    assert_one_line(run("evaluate", folder / "arm.skin", tmp_path / "empty.examples"), "no finished pose")
    (tmp_path / "folder").mkdir()
    assert_one_line(run("evaluate", folder / "arm.skin", tmp_path / "folder"), "not an example store")
    words = ("evaluate", "arm.skin", "unseen.examples", "--report", "no/report.html")
    assert_one_line(run(*words, folder=folder), "no/report.html", "folder")
    assert_one_line(run(*words[:-1], "report.pdf", folder=folder), "report.pdf", "the ending .html")
    assert_one_line(run("evaluate"), "SKIN... EXAMPLES")


def test_a_skin_that_plain_skinning_beats_is_marked(folder: Path) -> None:
    Skin.load(folder / "arm.skin").edited(exaggerate=-2).save(folder / "worse.skin")
    done = run("evaluate", "worse.skin", "arm.skin", "unseen.examples", "--report", "worse.html", folder=folder)
    assert re.search(r"worse +\d\.\d{4} worse", done.stdout)
    assert "worse is worse than plain skinning on these poses: " in " ".join(done.stdout.split())
    assert '<p class="worse">worse is worse than plain skinning' in (folder / "worse.html").read_text()
    rows = json.loads(run("evaluate", "worse.skin", "arm.skin", "unseen.examples", "--json", folder=folder).stdout)
    assert [row["worse_than_plain"] for row in rows] == [False, True, False]


def test_what_a_fit_found_out_about_itself_is_said_by_every_command(folder: Path) -> None:
    skin, line = (
        Skin.load(folder / "arm.skin"),
        "layer 'hand' is dropped: it raises the error at the examples it was fitted to",
    )
    replace(skin, about={**skin.about, "notes": [line]}).save(folder / "noted.skin")
    assert line in " ".join(run("info", "noted.skin", folder=folder).stdout.split())
    assert json.loads(run("info", "noted.skin", "--json", folder=folder).stdout)[0]["notes"] == [line]
    assert line in " ".join(run("evaluate", "noted.skin", "unseen.examples", folder=folder).stdout.split())
    assert line in " ".join(run("export", "noted.skin", "-o", "noted.glb", folder=folder).stderr.split())
