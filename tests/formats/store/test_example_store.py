"""The example store: what is in it must be ordinary files of the right size, and nothing outside it is followed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from posespace import datasets
from posespace.errors import FileError
from posespace.examples import Examples
from posespace.formats.store.example_store import ExampleStore
from posespace.report import info

MARK = "marks/c/1"
CHUNK = "shapes/c/1/0/0"
NOTE = "failures/1.txt"
PLACES = [MARK, CHUNK, NOTE, "zarr.json", "rig/zarr.json", "rig/points/zarr.json", "rig/points/c/0/0", "marks", "rig"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "arm.examples"
    datasets.bending_arm(rings=6, sides=4)[0][:3].save(path)
    return path


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "arm.examples")


def use(store: Path) -> None:
    info.describe(store)
    for _ in Examples.open(store):
        pass


def put(path: Path, kind: str) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(kind)


@pytest.mark.parametrize("place", [place for place in PLACES if place != "rig/zarr.json"])
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "elsewhere"])
def test_pipes_and_links_inside_are_refused_in_one_line(whole, store, place, kind):
    put(store / place, str(whole / place) if kind == "elsewhere" else kind)
    if place == "marks" and kind == "pipe":  # a folder that is none: no pose is finished
        assert not ExampleStore.open(store).finished().any()
        return
    with pytest.raises(FileError, match=r"is a link|expected an ordinary file|is missing|no zarr\.json") as caught:
        use(store)
    assert "\n" not in str(caught.value)


def test_the_store_itself_may_be_a_link(whole, tmp_path):
    (tmp_path / "linked.examples").symlink_to(whole)
    assert ExampleStore.open(tmp_path / "linked.examples").finished().all()


@pytest.mark.parametrize("size", [0, 7, 9, 3_000_000_000])
def test_a_mark_of_another_size_is_not_read_and_its_pose_not_finished(store, size):
    os.truncate(store / MARK, size)
    assert ExampleStore.open(store).finished().tolist() == [True, False, True]


@pytest.mark.parametrize("size", [0, 5, 3_000_000_000])
def test_a_shape_of_another_size_is_refused(store, size):
    os.truncate(store / CHUNK, size)
    with pytest.raises(FileError, match=r"the shape of pose .* is cut short or damaged"):
        use(store)


def test_a_note_of_a_failure_is_short(store):
    (store / "failures").mkdir()
    (store / NOTE).write_bytes(b"x" * 10_001)
    with pytest.raises(FileError, match="at most 10000 are read"):
        use(store)


def test_a_group_of_very_many_arrays_is_refused_unread(store):
    for number in range(150):
        (store / "rig" / str(number)).mkdir()
    with pytest.raises(FileError, match="more than 100 arrays"):
        use(store)


def test_finished_poses_are_found_again_while_others_are_missing(store):
    (store / MARK).unlink()
    opened = ExampleStore.open(store)
    assert opened.finished().tolist() == [True, False, True]
    opened.write(1, np.zeros_like(opened.rig.mesh.points))
    assert opened.finished().all()
