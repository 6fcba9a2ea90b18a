"""The demo as a user meets it: the real command, the files it leaves, and the commands it says to run next."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import assert_one_line, run, run_forked
from helpers.json_keys import wrong_keys
from helpers.once import made_once
from PIL import Image

from posespace import datasets
from posespace.demo.story import WRITTEN, clip
from posespace.evaluation.score import evaluate
from posespace.formats import load, viewer
from posespace.poses.active import at_rest
from posespace.skin.skin import Skin

FEW = """
from types import SimpleNamespace
from posespace import datasets
from posespace.demo import story
train, unseen = datasets.hand()
few = {
    "hand": lambda: (train.named("rest*", "index_pip*", "thumb_ip*"), unseen[:7]),
    "hand_together": lambda: datasets.hand_together()[0:30:10],
    "hand_between": lambda: datasets.hand_between().named("between index_pip*", "between thumb_ip*"),
    "hand_grasps": lambda: datasets.hand_grasps()[:4],
}
story.datasets = SimpleNamespace(**few)
"""
"""What a process runs first, so that the demo has a few poses of each kind."""


@pytest.fixture(scope="module", params=["few poses", pytest.param("all poses", marks=pytest.mark.slow)])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    whole = request.param == "all poses"

    def tell(folder: Path) -> None:
        # As an earlier run that was stopped leaves it.
        (folder / "demo" / "hand.examples").mkdir(parents=True)
        (folder / "demo" / "about.txt").write_text("Written by posespace demo")
        done = run_forked(["demo", "--json"], folder, first="" if whole else FEW)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        (folder / "story.json").write_text(done.stdout)

    folder = made_once(tmp_path_factory, f"story of {request.param}", tell)
    return folder, json.loads((folder / "story.json").read_text()) | {"whole": whole}


def test_both_fits_beat_plain_skinning_on_unseen_poses(told: tuple[Path, dict[str, Any]]) -> None:
    _, found = told
    assert wrong_keys(found) == set()
    groups = {
        "single_joints": 0.2,
        "grasps": 0.35,
        "several_joints": 0.35,
    }
    for group, most in groups.items():
        errors = {name: figures["rel_err"] for name, figures in found[group].items()}
        assert errors["plain skinning"] == 1
        assert max(errors["EigenSkin"], errors["PSD"]) < (most if found["whole"] else 1)


def test_every_file_is_there_and_can_be_used(told: tuple[Path, dict[str, Any]]) -> None:
    folder, found = told
    demo = folder / "demo"
    built = not viewer.missing()
    assert found["written"] == {name: what for name, what in WRITTEN.items() if built or name != "hand.html"}
    assert {path.name for path in demo.iterdir()} >= set(found["written"])
    assert ("not_written" in found) != built
    assert not built or 1e6 < (demo / "hand.html").stat().st_size < 4e6
    picture = np.asarray(Image.open(demo / "hand.png")) / 255
    assert picture.shape[1] > 900
    assert (picture[..., :3].max(axis=2) - picture[..., :3].min(axis=2) > 0.3).mean() > 0.005  # error heat
    page = (demo / "report.html").read_text()
    assert "EigenSkin" in page
    assert not re.search(r"""(src|href)=["'](?!data:)|https?://(?!www\.w3\.org)|<script""", page)


def test_corrected_normals_shade_unseen_poses_better_than_plain_skinning(told: tuple[Path, dict[str, Any]]) -> None:
    skin, unseen = Skin.load(told[0] / "demo" / "hand-eigenskin.skin"), datasets.hand()[1][:25:5]
    assert all(layer.normal_basis is not None for layer in skin.layers)
    most = 0.5 if told[1]["whole"] else 1.0
    assert evaluate(skin, unseen).normal_degrees < most * evaluate(Skin(skin.rig), unseen).normal_degrees


def test_the_glb_plays_the_skin(told: tuple[Path, dict[str, Any]]) -> None:
    demo = told[0] / "demo"
    skin, contents = Skin.load(demo / "hand-eigenskin.skin"), load.read(demo / "hand.glb")
    (rig,), (motion,) = contents.rigs.values(), contents.motions.values()
    assert (len(motion), motion.times[-1]) == (121, 5.0)
    assert skin.rig.mesh.unit == 0.001
    wanted = clip(skin.rig, datasets.hand()[1].motion)
    for frame in (0, 17, 60):
        pose = motion[frame]
        moved = np.einsum("c,cni->ni", list(pose.controls.values()), np.stack(list(contents.morphs.values())))
        off = np.abs(rig.skin(pose, moved) / skin.rig.mesh.unit - skin.pose(wanted[frame])[0])
        assert off.max() < 1e-5 * skin.rig.mesh.diagonal


def test_the_clip_starts_and_ends_at_rest_and_jumps_nowhere() -> None:
    train, unseen = datasets.hand()
    motion = clip(train.rig, unseen.motion)
    assert at_rest(train.rig, motion)[[0, -1]].all()
    cosine = np.abs((motion.rotations[1:] * motion.rotations[:-1]).sum(axis=2))
    assert np.degrees(2 * np.arccos(cosine.min())) < 25


def test_what_it_says_to_run_next_runs(told: tuple[Path, dict[str, Any]]) -> None:
    folder, found = told
    for words in found["next"].values():
        name, *arguments = shlex.split(words)
        assert name == "posespace"
        if "--rivals" in arguments:  # fitting them all takes long; their own tests do
            arguments = arguments[: arguments.index("--rivals")]
        done = run(*arguments, folder=folder)
        assert done.returncode == 0, done.stderr


def test_it_overwrites_nothing_but_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "hand.glb").write_bytes(b"mine")
    assert_one_line(run("demo", "-o", tmp_path), "holds a hand.glb", "-o")
    assert [path.name for path in tmp_path.iterdir()] == ["hand.glb"]
