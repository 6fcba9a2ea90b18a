"""Folders of posed meshes: harmless file names, poses found again, all or nothing."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_pose, random_rig, random_skin
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import FileError, InputError
from posespace.gathering import posed_meshes
from posespace.gathering.gather import Gathering, gather
from posespace.gathering.posed_meshes import file_stems, write_posed_meshes

HOSTILE = (
    "../../etc/passwd",
    "/",
    "..",
    ".hidden",
    "a/b",
    "a\\b",
    "a:b",
    "A_B",
    "C:\\x",
    "-rf",
    "con",
    "NUL.txt",
    " ",
    "\n",
    "\x00",
    "*",
    "[a-z]?",
    "fist",
    "FIST",
    "fist-2",
    "e\u0301",
    "\u00e9",
    "x" * 500,
    "x" * 501,
    "\U0001f590" * 300,
    "手" * 300,
    "%s$HOME`ls`",
    "poses",
    "index_pip.x +86",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("posed")


@given(names=st.lists(st.text(max_size=20) | st.sampled_from((*HOSTILE, "\ud800")), unique=True))
def test_any_names_become_distinct_harmless_file_names(names: list[str]) -> None:
    stems = file_stems(names)
    assert len({stem.casefold() for stem in stems}) == len(names)
    for stem in stems:
        assert stem == stem.strip(" .")
        assert not set(stem) & set('/\\:*?"<>|[]\0\n')
        assert stem[0] != "-"
        assert 0 < len(stem.encode()) <= 140
        assert Path(f"{stem}.obj").stem == stem


def test_ordinary_names_stay_as_they_are() -> None:
    names = ["Grip 1", "index_pip.x +86", "bend 0 twist 90 (b)", "Öffnen", "手"]
    assert file_stems(names) == names


def rig_file(folder: Path) -> tuple[Path, ps.Rig]:
    rig = random_rig(np.random.default_rng(1))
    ps.export(ps.Skin(rig), folder / "rig.glb")
    return folder / "rig.glb", ps.load_rig(folder / "rig.glb")


def pose_file(folder: Path, rig: ps.Rig, names: tuple[str, ...]) -> ps.Motion:
    rng = np.random.default_rng(2)
    motion = ps.Motion.from_poses([random_pose(rng, rig) for _ in names], names)
    ps.save_poses(motion, rig.skeleton, folder / "many.json")
    return motion


@pytest.mark.parametrize("ending", ["obj", "ply", "glb"])
def test_posed_meshes_are_plain_skinning_and_find_their_poses_again(tmp_path: Path, ending: str) -> None:
    path, rig = rig_file(tmp_path)
    motion = pose_file(tmp_path, rig, HOSTILE)
    write_posed_meshes(path, tmp_path / "many.json", tmp_path / "out", ending)
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) == len(HOSTILE) + 1
    assert {file.suffix for file in files} == {f".{ending}", ".json"}
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.endswith(".part")] == []
    listed = json.loads((tmp_path / "out" / "poses.json").read_text())
    assert (listed["rig"], set(listed["meshes"])) == ("rig.glb", set(HOSTILE))
    for name, file in listed["meshes"].items():
        mesh = ps.load_mesh(tmp_path / "out" / file)
        assert np.array_equal(mesh.triangles, rig.mesh.triangles)
        np.testing.assert_allclose(mesh.points, rig.skin(motion[name]), atol=1e-6)
    shapes = str(tmp_path / "out")
    notes = gather(path, shapes, tmp_path / "a.examples", settings=Gathering(rest=False)).notes
    examples = ps.Examples.open(tmp_path / "a.examples")
    assert examples.motion.names == HOSTILE
    assert np.array_equal(examples.motion.rotations, motion.rotations)
    assert [note for note in notes if "without a shape" in note] == []
    for index, pose in enumerate(motion):
        np.testing.assert_allclose(examples.shapes[index], rig.skin(pose), atol=1e-6)


def test_a_pattern_finds_the_poses_too_and_another_format_may_be_saved(tmp_path: Path) -> None:
    path, rig = rig_file(tmp_path)
    pose_file(tmp_path, rig, ("a/b", "fist", "open"))
    write_posed_meshes(path, tmp_path / "many.json", tmp_path / "out")
    ps.save_mesh(ps.load_mesh(tmp_path / "out" / "a_b.obj"), tmp_path / "out" / "a_b.ply")

    def names(shapes: str) -> tuple[str, ...]:
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}.examples"
        gather(path, shapes, out, settings=Gathering(rest=False))
        return ps.Examples.open(out).motion.names

    with pytest.raises(FileError, match=r"a_b\.ply: is a second shape for pose 'a/b', beside .*a_b\.obj; remove one"):
        names(str(tmp_path / "out"))
    (tmp_path / "out" / "a_b.obj").unlink()
    assert names(str(tmp_path / "out")) == ("a/b", "fist", "open")
    assert names(str(tmp_path / "out" / "*")) == ("a/b", "fist", "open")
    assert names(str(tmp_path / "out" / "*.obj")) == ("fist", "open")
    ps.save_mesh(rig.mesh, tmp_path / "out" / "fist_sculpted.obj")
    with pytest.raises(FileError, match=r"fist_sculpted\.obj: no pose is called 'fist_sculpted' in .*poses\.json"):
        names(str(tmp_path / "out"))


def test_shapes_without_poses_get_the_remedy(tmp_path: Path) -> None:
    path, rig = rig_file(tmp_path)
    ps.save_mesh(rig.mesh, tmp_path / "fist.obj")
    for shapes, problem in (
        ("*.obj", "no poses.json from .* is next to them; give `poses`"),
        ("", "is a folder without"),
    ):
        with pytest.raises(InputError, match=problem):
            gather(path, str(tmp_path / shapes), tmp_path / "x.examples")
    (tmp_path / "poses.json").write_text(
        '{"posespace": "poses", "version": 1, "meshes": {"fist": 3}, "poses": {"fist": {}}}'
    )
    with pytest.raises(FileError, match=r"poses\.json: the file: meshes: fist: expected a string, got 3"):
        gather(path, str(tmp_path), tmp_path / "x.examples")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["fist", "meshes", "a"]), inner),
)


@settings(max_examples=60)
@given(meshes=anything | st.dictionaries(st.text(max_size=5), st.sampled_from(HOSTILE)))
def test_any_list_of_meshes_names_no_file_elsewhere_or_gets_one_line(folder: Path, meshes: object) -> None:
    (folder / "poses.json").write_text(json.dumps({"posespace": "poses", "version": 1, "meshes": meshes}))
    path = folder / "fist.obj"
    try:
        assert set(posed_meshes.poses_of([path, folder / "b.obj"])) <= {path, folder / "b.obj"}
    except FileError as error:
        assert str(error).startswith(f"{folder / 'poses.json'}: ")
        assert "\n" not in str(error)


def test_a_skin_is_posed_with_its_corrections_on_its_own_vertices(tmp_path: Path) -> None:
    skin = random_skin(np.random.default_rng(3))
    skin.save(tmp_path / "a.skin")
    motion = pose_file(tmp_path, skin.rig, ("a", "b"))
    with warnings.catch_warnings():
        # Nothing is left out of meshes that are not written.
        warnings.simplefilter("error")
        with pytest.raises(FileError, match="no such file"):
            write_posed_meshes(tmp_path / "a.skin", tmp_path / "none.json", tmp_path / "out", "ply")
    with pytest.warns(UserWarning, match="its detail is left out"):
        write_posed_meshes(tmp_path / "a.skin", tmp_path / "many.json", tmp_path / "out", "ply")
    for name in motion.names:
        expected = replace(skin, detail=None).pose(motion[name])[0]
        np.testing.assert_allclose(ps.load_mesh(tmp_path / "out" / f"{name}.ply").points, expected, atol=1e-5)
    gather(tmp_path / "a.skin", str(tmp_path / "out"), tmp_path / "a.examples")
    assert ps.Examples.open(tmp_path / "a.examples").motion.names == ("a", "b", "rest")


def test_an_exported_file_is_posed_with_the_morph_targets_that_its_clip_dials(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=10, sides=8)
    skin = ps.PSD().fit(train)
    ps.export(skin, tmp_path / "arm.glb", train.motion[::6])
    write_posed_meshes(tmp_path / "arm.glb", tmp_path / "arm.glb", tmp_path / "out")
    moved = 0.0
    for index, pose in enumerate(train.motion[::6]):
        # The names of the poses are in the file, and so these are taken, not its frames.
        points = ps.load_mesh(tmp_path / "out" / f"{file_stems(train.motion.names)[6 * index]}.obj").points
        np.testing.assert_allclose(points, skin.pose(pose)[0], atol=1e-5 * train.rig.mesh.diagonal)
        moved = max(moved, float(np.abs(points - train.rig.skin(pose)).max()))
    assert moved > 0.01 * train.rig.mesh.diagonal


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, rig = rig_file(tmp_path)
    pose_file(tmp_path, rig, ("a", "b"))
    out = tmp_path / "out"
    out.mkdir()
    write_posed_meshes(path, tmp_path / "many.json", out)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    for taken in (out, path, tmp_path / ".."):
        with pytest.raises(FileError, match=r"exists already and is not empty|expected the name of a new folder"):
            write_posed_meshes(path, tmp_path / "many.json", taken)
    assert before == {file.name: file.read_bytes() for file in out.iterdir()}
    with pytest.raises(FileError, match=r"no/out: cannot be written \(no such file or directory\)"):
        write_posed_meshes(path, tmp_path / "many.json", tmp_path / "no" / "out")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(posed_meshes.pose_json, "write", full)
    with pytest.raises(FileError, match=r"new: cannot be written \(no space left on device\)"):
        write_posed_meshes(path, tmp_path / "many.json", tmp_path / "new")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["many.json", "out", "rig.glb"]


def test_a_mesh_that_a_format_cannot_hold_is_said_of_the_file_that_was_meant(tmp_path: Path) -> None:
    ps.save_mesh(ps.Mesh(np.eye(3), np.zeros((0, 3), int)), tmp_path / "cloud.ply")
    (tmp_path / "dials.json").write_text(
        '{"posespace": "poses", "version": 1, "poses": {"smile": {"controls": {"smile": 1}}}}'
    )
    with pytest.raises(FileError, match=r"^[^\n]*out/smile\.glb: glTF draws triangles") as caught:
        write_posed_meshes(tmp_path / "cloud.ply", tmp_path / "dials.json", tmp_path / "out", "glb")
    assert ".part" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_pose_too_far_for_the_rig_is_said_of_its_file(tmp_path: Path) -> None:
    rig = random_rig(np.random.default_rng(1), joints=3)
    ps.Skin(rig).save(tmp_path / "rig.skin")
    far = ps.Pose(rig.rest.rotations, np.full((3, 3), 9e9))
    ps.save_poses(ps.Motion.from_poses([far]), rig.skeleton, tmp_path / "far.json")
    with pytest.raises(FileError, match=r"far\.json: bone transforms: expected numbers from -1e\+10 to 1e\+10"):
        write_posed_meshes(tmp_path / "rig.skin", tmp_path / "far.json", tmp_path / "out")
