"""`posespace sculpts`: each step of an artist's day is one command that prints one or two lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import assert_one_line, run

import posespace as ps
from posespace import datasets

TRAIN = datasets.bending_arm(rings=6, sides=4)[0]
BENT = [name for name in TRAIN.motion.names if "bend 48" in name or "bend 120" in name]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two sculpts, and a folder with more."""
    folder = tmp_path_factory.mktemp("sculpts")
    chosen = TRAIN.named(*BENT)
    chosen[[0, 1]].save(folder / "arm.examples")
    ps.save_poses(chosen.motion, TRAIN.rig.skeleton, folder / "all.json")
    for index in (2, 3):
        ps.save_mesh(TRAIN.rig.mesh.with_points(chosen.shapes[index]), folder / f"s{index}.obj")
    return folder


@pytest.fixture
def folder(begun: Path, tmp_path: Path) -> Path:
    return shutil.copytree(begun, tmp_path / "work")


def say(folder: Path, *words: str) -> str:
    done = run("sculpts", "arm.examples", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def figures(folder: Path, *words: str) -> dict:
    return json.loads(say(folder, *words, "--json"))


def test_a_day_of_sculpting(folder: Path) -> None:
    added = say(folder, "add", "s2.obj", "--pose", BENT[2], "--poses", "all.json", "--name", "third")
    assert added.startswith("arm.examples: added 'third' from s2.obj, ")
    assert added.endswith("; 3 sculpts\n")
    assert added.count("\n") == 1
    assert say(folder, "radius", "third", "0.3") == "arm.examples: set the radius of 'third': 0.3; 3 sculpts\n"
    assert say(folder, "rename", "third", "softL") == "arm.examples: renamed 'third' to 'softL'; 3 sculpts\n"
    assert say(folder, "mute", BENT[0]) == f"arm.examples: muted {BENT[0]!r}; 3 sculpts, 1 muted\n"
    rows = figures(folder, "list")
    assert list(rows) == ["file", "sculpts", "radius_by_control", "undo", "redo"]
    assert list(rows["sculpts"][0]) == ["sculpt", "moves", "largest_correction", "radius", "muted"]
    assert [(row["sculpt"], row["radius"], row["muted"]) for row in rows["sculpts"]] == [
        (BENT[0], None, True),
        (BENT[1], None, False),
        ("softL", 0.3, False),
    ]
    assert len(rows["undo"]) == 4
    assert rows["redo"] == []
    assert "| softL |" in say(folder)
    fitted = run("fit", "psd", "arm.examples", "-o", "a.skin", "--json", folder=folder)
    assert "muted sculpts are left out" in fitted.stderr
    about = json.loads(fitted.stdout)
    assert about["poses_fitted_on"] == 2
    assert [layer["radius_by_sculpt"] for layer in about["about"]["layers"] if "radius_by_sculpt" in layer] == [
        {"softL": 0.3}
    ]
    assert say(folder, "undo") == f"arm.examples: undone: muted {BENT[0]!r}; 3 sculpts\n"
    assert figures(folder, "remove", "soft*")["sculpts"] == 2
    assert figures(folder, "undo")["done"] == "undone: removed 'softL'"
    assert figures(folder, "list")["redo"] == ["removed 'softL'"]
    assert "next to redo: removed 'softL' (1 steps)" in say(folder)
    assert say(folder, "redo") == "arm.examples: redone: removed 'softL'; 2 sculpts\n"


def test_the_list_tells_the_distance_that_was_told_when_the_sculpt_was_added(folder: Path) -> None:
    added = figures(folder, "add", "s2.obj", "--pose", BENT[2], "--poses", "all.json", "--name", "third")
    assert figures(folder, "list")["sculpts"][2]["largest_correction"] == pytest.approx(added["largest"], rel=1e-4)


def test_a_radius_in_degrees_is_noticed_and_can_be_undone(folder: Path) -> None:
    done = run("sculpts", "arm.examples", "radius", BENT[1], "45", folder=folder)
    assert done.returncode == 0
    assert "45 radians are more than a full rotation; 45 degrees are 0.785" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "set the radius" in say(folder, "undo")


def test_a_radius_by_control_is_kept_in_the_store_and_fits_use_it(folder: Path) -> None:
    done = say(folder, "control-radius", "forearm", "0.5")
    assert done == "arm.examples: set the radius of 'forearm': 0.5; 2 sculpts\n"
    say(folder, "control-radius", "forearm", "hand", "0.9", "--layer")
    radii = {"forearm": 0.5, "forearm + hand": 0.9}
    assert figures(folder, "list")["radius_by_control"] == radii
    assert "radius by control: forearm 0.5, forearm + hand 0.9\n" in say(folder)
    info = json.loads(run("info", "arm.examples", "--json", folder=folder).stdout)
    assert info[0]["radius_by_control"] == radii
    fitted = run("fit", "psd", "arm.examples", "-o", "a.skin", "--json", folder=folder)
    assert json.loads(fitted.stdout)["about"]["settings"]["radius"] == radii
    given = run("fit", "psd", "arm.examples", "-o", "b.skin", "--radius", "0.7", "--json", folder=folder)
    assert json.loads(given.stdout)["about"]["settings"]["radius"] == 0.7
    say(folder, "control-radius", "forearm", "auto")
    assert figures(folder, "list")["radius_by_control"] == {"forearm + hand": 0.9}
    say(folder, "undo")
    assert figures(folder, "list")["radius_by_control"] == radii


def test_a_layer_whose_sculpts_all_have_a_radius_shows_theirs_alone(folder: Path) -> None:
    for name in BENT[:2]:
        say(folder, "radius", name, "0.8")
    fitted = run("fit", "psd", "arm.examples", "-o", "a.skin", folder=folder).stdout
    radii = ", ".join(f"{name} 0.8" for name in BENT[:2])
    assert f"sculpts 2, radius {radii}\n" in fitted
    assert "kernel: default\n" in fitted


def test_the_shape_of_a_sculpt_is_replaced_at_its_pose(folder: Path) -> None:
    assert_one_line(
        run("sculpts", "arm.examples", "add", "s2.obj", "--poses", "all.json", "--pose", BENT[0], folder=folder),
        "there is one of that name already",
    )
    say(folder, "add", "s3.obj", "--replace", "--name", BENT[0])
    stored = ps.Sculpts.open(folder / "arm.examples")[BENT[0]]
    np.testing.assert_allclose(stored.shape, TRAIN.named(*BENT).shapes[3], atol=1e-5)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["none.examples", "list"], ["none.examples: does not exist"]),
        (["arm.examples", "ad"], ["command 'ad'", "closest is 'add'"]),
        (["add", "arm.examples"], ["expected the store first: posespace sculpts arm.examples add"]),
        (["arm.examples", "undo"], ["arm.examples: there is no change to undo"]),
        (["arm.examples", "redo"], ["arm.examples: there is no change to redo"]),
        (["arm.examples", "radius", BENT[0], "wide"], ["expected a number such as 0.6, or auto"]),
        (["arm.examples", "radius", BENT[0], "0"], ["expected a finite number above 0"]),
        (["arm.examples", "control-radius", "0.5"], ["expected one name and a radius", "got '0.5'"]),
        (["arm.examples", "control-radius", "a", "b", "0.5"], ["several names need --layer"]),
        (["arm.examples", "control-radius", "hand", "-1"], ["option -1"]),
        (["arm.examples", "remove", "nobody"], ["'nobody': none has that name"]),
        (["arm.examples", "add", "none.obj"], ["none.obj: does not exist"]),
        (["arm.examples", "add", "s2.obj"], ["give --poses"]),
        (["arm.examples", "add", "s2.obj", "--poses", "all.json"], ["no pose is called 's2'", "--pose"]),
        (["arm.examples", "mirror", "*"], ["no joint has a counterpart"]),
        (["arm.examples", "mirror", "*", "--normal", "up"], ["--normal: expected x, y, z or three numbers"]),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(folder: Path, words: list[str], problem: list[str]) -> None:
    assert_one_line(run("sculpts", *words, folder=folder), *problem)


def test_sculpts_of_a_character_are_mirrored(data: Path, tmp_path: Path) -> None:
    rig = ps.load_rig(data / "humanoid-kaykit-knight" / "Knight.glb")
    turn = np.array(rig.rest.rotations)
    joint = rig.skeleton.index("lowerarm.l")
    turn[joint] = ps.Skeleton.rotations(rig.skeleton, np.eye(41)[joint][:, None] * (0.0, 0.0, 1.0))[joint]
    pose = ps.Pose(turn, rig.rest.translations)
    shape = rig.skin(pose)
    shape[rig.weights[:, 0] * (rig.influences[:, 0] == joint) > 0.9] += 0.02
    motion = ps.Motion.from_poses([pose, rig.rest], ["bentL", "rest"])
    ps.Examples.from_shapes(rig, motion, [shape, rig.mesh.points]).save(tmp_path / "arm.examples")
    lines = say(tmp_path, "mirror", "*").splitlines()
    assert lines[0] == "arm.examples: mirrored 'bentL'; 3 sculpts"
    assert lines[1].startswith("  bentL → bentR: 100.0% of ")
    assert lines[2] == "  rest kept: its pose is its own mirror image"
    again = figures(tmp_path, "mirror", "bentL")
    assert again["mirrored"] == []
    assert again["kept"] == {"bentL": "its mirror image is there already as 'bentR'"}
    (made,) = figures(tmp_path, "mirror", "bentL", "--replace")["mirrored"]
    assert list(made) == ["sculpt", "made", "vertices", "matched", "median", "farthest", "good"]
    assert (made["made"], made["matched"], made["good"]) == ("bentR", 1.0, True)


def test_help_needs_no_store(tmp_path: Path) -> None:
    done = run("sculpts", "add", "--help", folder=tmp_path)
    assert done.returncode == 0
    assert "posespace sculpts STORE add [OPTIONS] SHAPE" in done.stdout


def test_names_cannot_speak_to_the_terminal_and_a_radius_cannot_spoil_the_store(folder: Path) -> None:
    say(folder, "rename", BENT[0], "a\x1b[31m\nb")
    assert "| a\\x1b[31m\\nb |" in say(folder)
    assert_one_line(run("sculpts", "arm.examples", "radius", BENT[1], "1e300", folder=folder), "above 0")
    say(folder, "mute", "*")
    refused = run("fit", "psd", "arm.examples", "-o", "a.skin", folder=folder)
    assert refused.returncode == 2
    assert "mute '*' --off" in refused.stderr.splitlines()[-1]
    assert not (folder / "a.skin").exists()
