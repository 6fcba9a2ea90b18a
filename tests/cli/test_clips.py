"""Clips on the command line: chosen by name, folded in what is shown, matched to shapes by their keys."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import assert_one_line, run
from helpers.gltf_files import HALF, animate, skinned

import posespace as ps
from posespace.formats import obj
from posespace.formats.frames import resampled
from posespace.formats.pose_choice import PoseChoice
from posespace.gathering.gather import Gathering, gather
from posespace.geometry.rotations import angles_between
from posespace.simulation.poses import poses_to_simulate
from posespace.simulation.settings import Settings

NAMES = ("idle", "walk", "run", "jump", "wave", "sit", "stand", "fall")


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    """A rig of two joints with eight clips, each of three keys: the k-th turns by the k-th axis and takes k + 1 s."""
    made = skinned()
    for k, name in enumerate(NAMES):
        turns = np.tile([0, 0, 0, 1.0], (3, 1))
        turns[1, [k % 3, 3]] = HALF
        animate(made, (1, "rotation", "LINEAR", [0, (k + 1) / 2, k + 1], made.add(turns)))
        made.json["animations"][-1]["name"] = name
    return made.write(tmp_path, glb=True)


def test_info_folds_many_clips_and_shows_all_when_asked(clips: Path) -> None:
    short = run("info", clips).stdout
    assert "5 more motions (--all shows them): jump, wave, sit, stand, fall\n" in short
    assert "      poses: 31\n      keys: 3\n      seconds: 1\n      frames per second: 30\n" in short
    assert short.count("frames per second: ") == 3
    assert "a clip is sampled at 30 frames per second between its keys (8 times)" in short
    assert run("info", "--all", clips).stdout.count("frames per second: ") == len(NAMES)
    assert list(json.loads(run("info", "--json", clips).stdout)[0]["motions"]) == list(NAMES)


def test_info_shows_every_name_when_asked(tmp_path: Path) -> None:
    names = [f"pose {k}" for k in range(9)]
    poses = {name: {"rotations": {"arm": {"x": 10}}} for name in names}
    file = tmp_path / "poses.json"
    file.write_text(json.dumps({"posespace": "poses", "version": 1, "poses": poses}))
    assert "pose names: pose 0, pose 1, pose 2, pose 3, pose 4, pose 5, ... (9)\n" in run("info", file).stdout
    assert f"pose names: {', '.join(names)}\n" in run("info", "--all", file).stdout


def test_no_line_is_broken_within_a_name(tmp_path: Path) -> None:
    names = [f"Bip01 L Finger{k}{k % 2 * ' and another'}" for k in range(25)]
    poses = {name: {"rotations": {"arm": {"x": 10}}} for name in names}
    file = tmp_path / "poses.json"
    file.write_text(json.dumps({"posespace": "poses", "version": 1, "poses": poses}))
    lines = run("info", "--all", file).stdout.splitlines()
    assert all(any(name in line for line in lines) for name in names)
    assert max(map(len, lines)) <= 120


def test_a_motion_is_chosen_by_its_name_and_rate(clips: Path, tmp_path: Path) -> None:
    ps.Skin(ps.load_rig(clips)).save(tmp_path / "a.skin")
    export = ["export", tmp_path / "a.skin", "-o", tmp_path / "a.glb"]
    done = run(*export, "--motion", clips, "--clip", "walk", "--rate", "10", "--json")
    found = json.loads(done.stdout)["motions"]["walk"]
    assert (found["poses"], found["keys"], found["seconds"], found["frames_per_second"]) == (21, 21, 2, 10)
    assert done.stderr == ""
    first = run(*export, "--motion", clips)
    assert first.stderr.splitlines() == [
        f"posespace: note: {clips}: holds 8 clips; the first, 'idle', is taken: choose another with --clip",
        f"posespace: note: {clips}: 'idle' has 3 keys, read as 31 frames at 30 per second: "
        "choose with --rate, or take the keys alone with --rate keys",
    ]
    wrong = run(*export, "--motion", clips, "--clip", "wakl")
    assert_one_line(wrong, "holds no clip 'wakl' among its 8; the closest is 'walk'")
    assert_one_line(run(*export, "--clip", "walk"), "--clip: needs --motion FILE")
    assert_one_line(run(*export, "--motion", clips, "--rate", "fast"), "rate: expected frames per second", "'keys'")


def test_shapes_of_keys_are_told_from_shapes_of_frames(clips: Path, tmp_path: Path) -> None:
    rig = ps.load_rig(clips)
    keys = ps.load_motion(clips, rig.skeleton, "walk", rate="keys")
    np.save(tmp_path / "keys.npy", [rig.skin(pose) for pose in keys])
    given = (clips, str(tmp_path / "keys.npy"), tmp_path / "a.examples", clips)
    remedy = "'walk' has 3 keys, read as 61 frames, for 3 shapes: take the keys alone with `rate='keys'`"
    with pytest.raises(ps.FileError, match=remedy):
        gather(*given, Gathering(choice=PoseChoice("walk")))
    (told,) = gather(*given, Gathering(choice=PoseChoice("walk", "keys"))).notes
    assert told.startswith("every shape is that of plain skinning")
    assert np.array_equal(ps.Examples.open(tmp_path / "a.examples").motion.times, keys.times)


def test_sculpts_numbered_as_the_keys_are_not_put_onto_frames(clips: Path, tmp_path: Path) -> None:
    mesh = ps.load_mesh(clips)
    for k in range(3):
        obj.write(tmp_path / f"{k}.obj", mesh)
    given = (clips, str(tmp_path / "*.obj"), tmp_path / "a.examples", clips)
    with pytest.raises(ps.FileError, match="`rate='keys'`"):
        gather(*given)
    gather(*given, Gathering(choice=PoseChoice(rate="keys")))
    chosen = Gathering(rest=False, choice=PoseChoice("walk", 30))
    notes = gather(*given[:2], tmp_path / "b.examples", clips, chosen).notes
    assert any("poses without a shape are left out" in note for note in notes)
    assert len(ps.Examples.open(tmp_path / "b.examples")) == 3


def test_simulated_poses_come_from_the_clip_that_is_asked_for(clips: Path) -> None:
    settings = Settings(clips, choice=PoseChoice("run", "keys"))
    assert poses_to_simulate(ps.load_rig(clips), settings).times.max() == pytest.approx(3)


@pytest.mark.parametrize("command", ["export", "retarget", "examples", "simulate"])
def test_every_command_with_a_motion_takes_a_clip_and_a_rate(command: str) -> None:
    shown = run(command, "--help").stdout
    assert "--clip NAME" in shown
    assert "--rate NUMBER|keys" in shown


def test_an_export_has_several_clips_by_their_names(clips: Path, tmp_path: Path) -> None:
    rig = ps.load_rig(clips)
    ps.Skin(rig).save(tmp_path / "a.skin")
    export = ["export", tmp_path / "a.skin", "-o", tmp_path / "a.glb", "--motion", clips]
    done = run(*export, "--clip", "run", "--clip", "idle", "--rate", "keys", "--json")
    assert done.stderr == ""
    found = json.loads(done.stdout)["motions"]
    assert {name: (clip["keys"] > 3, clip["seconds"]) for name, clip in found.items()} == {
        "run": (True, 3),
        "idle": (True, 1),
    }
    for name in ("run", "idle"):
        times = np.linspace(0, found[name]["seconds"], 7)
        before, after = (resampled(ps.load_motion(path, None, name), times) for path in (clips, tmp_path / "a.glb"))
        assert np.abs(angles_between(before.rotations, after.rotations)).max() < 1e-3
    assert list(json.loads(run(*export, "--json").stdout)["motions"]) == ["idle"]


def test_an_export_has_a_clip_of_each_motion_file(clips: Path, tmp_path: Path) -> None:
    rig = ps.load_rig(clips)
    ps.Skin(rig).save(tmp_path / "a.skin")
    for name in ("wave", "sit"):
        ps.save_poses(ps.load_motion(clips, rig.skeleton, name, rate=10), rig.skeleton, tmp_path / f"{name}.json")
    words = ["export", "a.skin", "-o", "a.glb", "--motion", "wave.json", "--motion", "sit.json", "--json"]
    found = json.loads(run(*words, folder=tmp_path).stdout)["motions"]
    assert {name: clip["seconds"] for name, clip in found.items()} == {"wave": 5, "sit": 6}
    both = run(*words, "--motion", clips, "--clip", "run", folder=tmp_path)
    assert_one_line(both, "--clip: expected one file of motions, whose clips they are, got 3")


def test_where_one_clip_is_taken_a_second_is_refused(clips: Path, tmp_path: Path) -> None:
    for command in (["pose", clips, "--poses", clips], ["bones", clips], ["retarget", clips, clips, clips]):
        done = run(*command, "-o", tmp_path / "out", "--clip", "run", "--clip", "idle")
        assert_one_line(done, "option --clip: expected once, got it 2 times")
