"""Someone else's players: the Khronos validator, three.js and Blender show what the skins themselves give."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Runner
from helpers.exported import Exported, every_method, paced
from numpy.typing import NDArray
from PIL import Image

import posespace as ps
from posespace.skin.skin import Skin

Array = NDArray[np.float32]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Exported]:
    return list(every_method(tmp_path_factory.mktemp("exported")))


def jobs_of(files: Sequence[Exported]) -> list[dict[str, Any]]:
    return [
        {"file": str(each.path), "times": each.times(), "out": str(each.path.with_suffix(".positions"))}
        for each in files
    ]


def assert_plays(files: Sequence[Exported]) -> None:
    """What a player left beside each file is within 1e-4 of the box of what the skin gives, in the same order."""
    for each in files:
        times = each.times()
        found = np.fromfile(each.path.with_suffix(".positions"), np.float32).reshape(len(times), -1, 3)
        size = float(np.linalg.norm(np.ptp(each.points(0), axis=0)))
        for time, points in zip(times, found, strict=True):
            wanted = each.points(time)
            assert points.shape == wanted.shape, each.path.name
            assert np.abs(points - wanted).max() < 1e-4 * size, f"{each.path.name} at {time:.3f} s"


def run_jobs(run: Callable[..., str], script: str, jobs: list[dict[str, Any]], folder: Path) -> None:
    (folder / "jobs.json").write_text(json.dumps(jobs))
    run(script, folder / "jobs.json")


def test_the_khronos_validator_finds_nothing_wrong(node: Runner, files: list[Exported]) -> None:
    found = json.loads(node("validate.mjs", *(each.path for each in files)))
    assert len(found) == len(files)
    assert [issue for issues in found.values() for issue in issues if issue.startswith(("error", "warning"))] == []


def test_three_shows_what_the_skin_gives(node: Runner, files: list[Exported], tmp_path: Path) -> None:
    run_jobs(node, "play.mjs", jobs_of(files), tmp_path)
    assert_plays(files)


@pytest.mark.slow
def test_blender_shows_what_the_skin_gives(blender: Runner, files: list[Exported], tmp_path: Path) -> None:
    read = [each for each in files if each.compression != "meshopt"]  # which Blender 4.2 does not know
    run_jobs(blender, "blender_play.py", jobs_of(read), tmp_path)
    assert_plays(read)


@pytest.mark.slow
def test_a_textured_rig_comes_back_textured(node: Runner, blender: Runner, data: Path, tmp_path: Path) -> None:
    source = data / "gltf-khronos" / "CesiumMan.glb"
    rig = ps.load_rig(source)
    clip = paced(ps.load_motion(source, rig.skeleton)[:2])
    bare = replace(rig, mesh=replace(rig.mesh, look=None))
    made = [
        Exported(tmp_path / f"{name}.glb", Skin(each), clip).write() for name, each in (("out", rig), ("bare", bare))
    ]
    said = json.loads(node("validate.mjs", *(each.path for each in made)))
    # All that the validator has to say is that it does not know the drivers, nor what the view of their numbers is for.
    unknown = ("information UNSUPPORTED_EXTENSION /extensionsUsed/", "information UNUSED_OBJECT /bufferViews/")
    assert [issue for issues in said.values() for issue in issues if not issue.startswith(unknown)] == []
    assert [len(issues) for issues in said.values()] == [2, 2]
    jobs = jobs_of(made)
    jobs.insert(0, {**jobs[0], "file": str(source)})
    pictures = [tmp_path / f"{k}.png" for k in range(3)]
    jobs = [
        {**job, "times": [0.0], "picture": str(picture), "size": [64, 64]}
        for job, picture in zip(jobs, pictures, strict=True)
    ]
    run_jobs(blender, "blender_play.py", jobs, tmp_path)
    before, after, plain = (np.asarray(Image.open(picture).convert("RGBA"), float) for picture in pictures)
    seen = before[..., 3] > 0
    assert seen.mean() > 0.05
    assert np.abs(before - after)[seen].mean() < 2
    assert np.abs(before - plain)[seen].mean() > 20
