"""Examples from files: shapes in another unit, order or with merged seams are mended by an option, or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.samples import error_of
from helpers.shuffles import bulged, shuffled
from numpy.typing import NDArray

import posespace as ps
from posespace import datasets
from posespace.formats import obj, pose_json
from posespace.formats.gltf.write import write
from posespace.gathering.conform import Placing
from posespace.gathering.gather import Gathered, Gathering, gather
from posespace.geometry import rotations
from posespace.geometry.weld import weld_points
from posespace.skin.skin import Skin


def split(rig: ps.Rig) -> ps.Rig:
    """The rig as a file would hold it that splits vertices along a seam: some triangles have corners of their own."""
    triangles = rig.mesh.triangles.copy()
    own = triangles[::7].ravel()
    triangles[::7] = len(rig.mesh.points) + np.arange(len(own)).reshape(-1, 3)
    every = np.concatenate([np.arange(len(rig.mesh.points)), own])
    mesh = ps.Mesh(rig.mesh.points[every], triangles)
    return replace(rig, mesh=mesh, influences=rig.influences[every], weights=rig.weights[every])


RIG = split(datasets.bending_arm(rings=14, sides=9)[0].rig)


def motion_of(rig: ps.Rig) -> ps.Motion:
    poses = []
    for angle in (0.4, 0.9, 1.4):
        turn = np.array(rig.rest.rotations)
        turn[-1] = rotations.multiply(turn[-1], rotations.from_axis_angle((0.0, 0.0, 1.0), angle))
        poses.append(ps.Pose(turn, rig.rest.translations))
    return ps.Motion.from_poses(poses, ["a", "b", "c"])


MOTION = motion_of(RIG)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "arm.glb", Skin(RIG))
    pose_json.write(tmp_path / "poses.json", MOTION, RIG.skeleton)
    return tmp_path


def sculpts(size: float = 0.05) -> list[NDArray[np.floating]]:
    rng = np.random.default_rng(5)
    return [bulged(rng, RIG.mesh, RIG.skin(pose), size) for pose in MOTION]


def gathered(folder: Path, meshes: dict[str, ps.Mesh], **placing: object) -> Gathered:
    for name, mesh in meshes.items():
        obj.write(folder / f"{name}.obj", mesh)
    settings = Gathering(placing=Placing(**placing))  # type: ignore[arg-type]
    return gather(folder / "arm.glb", folder / "poses.json", str(folder / "*.obj"), folder / "arm.examples", settings)


def stored(folder: Path) -> list[NDArray[np.floating]]:
    return [np.asarray(shape) for _, shape in ps.Examples.open(folder / "arm.examples")][:3]


def test_right_sculpts_are_stored_without_a_word_and_matched_by_name(folder: Path) -> None:
    found = gathered(folder, {name: RIG.mesh.with_points(shape) for name, shape in zip("abc", sculpts(), strict=True)})
    assert (found.matched, found.notes) == ("by name", [])
    assert [source.name for source in found.sources] == ["a.obj", "b.obj", "c.obj", "arm.glb"]
    found_rest = found.findings[3]
    assert found_rest.pose == "rest"
    assert found_rest.rms < 1e-6


def test_sculpts_named_otherwise_are_matched_in_order_and_swapped_ones_are_told(folder: Path) -> None:
    first, second, third = (RIG.mesh.with_points(shape) for shape in sculpts(0.02))
    found = gathered(folder, {"1": second, "2": first, "3": third})
    assert found.matched == "in order"
    assert len(found.notes) == 2
    assert "'a': it fits pose 'b' better than its own" in found.notes[0]


def test_another_unit_and_axes_are_told_and_the_options_mend_them(folder: Path) -> None:
    shapes = sculpts()
    turned = [100 * np.stack([shape[:, 0], -shape[:, 2], shape[:, 1]], axis=1) for shape in shapes]
    meshes = {name: RIG.mesh.with_points(shape) for name, shape in zip("abc", turned, strict=True)}
    found = gathered(folder, meshes)
    assert found.notes[0].endswith("z is up in it, not y; give --unit 0.01 --up z")
    assert "was made with unit as it is" in error_of(
        lambda: gather(
            folder / "arm.glb",
            folder / "poses.json",
            str(folder / "*.obj"),
            folder / "arm.examples",
            Gathering(resume=True, placing=Placing({"*": 0.01}, {"*": "z"})),
        )
    )
    (folder / "arm.examples").rename(folder / "old.examples")
    mended = gathered(folder, meshes, unit={"*": 0.01}, up={"*": "z"})
    assert mended.notes == []
    for shape, there in zip(shapes, stored(folder), strict=True):
        np.testing.assert_allclose(there, shape, atol=1e-5)


def test_shuffled_files_are_told_and_matched_by_position(folder: Path) -> None:
    rng, shapes = np.random.default_rng(2), sculpts()
    meshes = {name: shuffled(rng, RIG.mesh.with_points(s))[0] for name, s in zip("abc", shapes, strict=True)}
    found = gathered(folder, meshes)
    assert found.notes == ["'a', 'b', 'c': its vertices are in another order; give --match positions"]
    (folder / "arm.examples").rename(folder / "old.examples")
    assert gathered(folder, meshes, match="positions").notes == []
    for shape, there in zip(shapes, stored(folder), strict=True):
        np.testing.assert_allclose(there, shape, atol=1e-5)


def test_merged_seams_are_split_again_without_an_option(folder: Path) -> None:
    weld, shapes = weld_points(RIG.mesh.points), sculpts()
    shapes = [weld.scatter(weld.gather(shape)) for shape in shapes]
    rng = np.random.default_rng(7)
    merged = [ps.Mesh(shape[weld.first], weld.groups[RIG.mesh.triangles]) for shape in shapes]
    meshes = {"a": merged[0], "b": shuffled(rng, merged[1])[0], "c": RIG.mesh.with_points(shapes[2])}
    found = gathered(folder, meshes)
    assert found.notes == []
    assert found.vertices == {"seams split again": 1, "by faces and positions": 1, "in order": 1}
    for shape, there in zip(shapes, stored(folder), strict=True):
        np.testing.assert_allclose(there, shape, atol=1e-5)


def test_what_cannot_be_matched_is_refused_in_one_line(folder: Path) -> None:
    shape = sculpts()[0]
    rng = np.random.default_rng(0)
    cut = ps.Mesh(shape[:50], np.zeros((0, 3), np.int32))
    assert "it is a shape of another mesh" in error_of(lambda: gathered(folder, {"a": cut}, match="positions"))
    loose = ps.Mesh(rng.permutation(shape + rng.normal(size=shape.shape)), np.zeros((0, 3), np.int32))
    assert "positions" in error_of(lambda: gathered(folder, {"a": loose}, match="positions"))
    large = shuffled(rng, RIG.mesh.with_points(RIG.skin(MOTION[0]) @ np.diag([-100.0, 100, 100])))[0]
    assert "its box is 100 times the rig's, so give --unit" in error_of(
        lambda: gathered(folder, {"a": large}, match="positions")
    )
    assert not (folder / "arm.examples").exists()


def test_settings_are_checked() -> None:
    assert "above 0" in error_of(lambda: Placing({"*": -1.0}))
    assert "x,z,-y" in error_of(lambda: Placing(up={"*": "x,x,z"}))
    assert "no pose with a shape is called that" in error_of(lambda: Placing({"d*": 2.0}).require_used(("a", "b")))


def test_an_array_of_shuffled_shapes_is_told_too(folder: Path) -> None:
    order = np.random.default_rng(0).permutation(len(RIG.mesh.points))
    np.save(folder / "shapes.npy", np.stack(sculpts())[:, order])
    where = (folder / "arm.glb", folder / "poses.json", str(folder / "shapes.npy"), folder / "arm.examples")
    assert "another order; give --match positions" in gather(*where).notes[0]


def test_a_rest_shape_rounded_by_a_file_is_the_rest_shape(recwarn: pytest.WarningsRecorder) -> None:
    sculpted = ps.Sculpts(RIG)
    sculpted.add("rest", RIG.rest, RIG.mesh.points + 4e-6 * RIG.mesh.diagonal)
    # Of this library alone: what other tests left open may be told of here.
    assert not [each for each in recwarn.list if issubclass(each.category, UserWarning)]
    with pytest.warns(UserWarning, match="replaces the anchor"):
        sculpted.replace("rest", RIG.mesh.points + 1e-4 * RIG.mesh.diagonal)


def morphing(path: Path, rig: ps.Rig) -> dict[str, NDArray[np.floating]]:
    """Write a file of the rig with two morph targets; return their displacements."""
    rng = np.random.default_rng(1)
    moved = {name: rng.normal(size=rig.mesh.points.shape).astype(np.float32) * 0.01 for name in ("smile", "frown")}
    session = ps.Sculpts(rig)
    for name, displacement in moved.items():
        session.add(
            name, ps.Pose(rig.rest.rotations, rig.rest.translations, {name: 1.0}), rig.mesh.points + displacement
        )
    write(path, session.skin())
    return moved


@pytest.mark.parametrize("joints", [True, False])
def test_morph_targets_become_examples_driven_by_controls(tmp_path: Path, joints: bool) -> None:
    rig = datasets.bending_arm(rings=10, sides=8)[0].rig
    file = tmp_path / "face.glb"
    morphing(file, rig if joints else ps.Rig.from_mesh(rig.mesh))
    from posespace.formats import load

    morphs = load.read(file).morphs
    found = gather(file, None, None, tmp_path / "face.examples", Gathering(morphs=True))
    assert found.matched == "morph targets by name"
    examples = ps.Examples.open(tmp_path / "face.examples")
    assert examples.motion.names == (*morphs, "rest")
    assert set(examples.motion.control_names) == set(morphs)
    for k, (name, displacement) in enumerate(morphs.items()):
        assert examples.motion[k].controls == {other: float(other == name) for other in morphs}
        np.testing.assert_allclose(examples.shapes[k], examples.rig.mesh.points + displacement, atol=1e-6)
    skin = ps.PSD().fit(examples)
    shown = skin.pose(examples.motion[0])[0]
    np.testing.assert_allclose(shown, examples.shapes[0], atol=1e-5)


def test_morph_targets_and_sculpts_come_together(folder: Path) -> None:
    morphs = morphing(folder / "arm.glb", RIG)
    for name, shape in zip("abc", sculpts(), strict=True):
        obj.write(folder / f"{name}.obj", RIG.mesh.with_points(shape))
    where = (folder / "arm.glb", folder / "poses.json", str(folder / "*.obj"), folder / "arm.examples")
    found = gather(*where, Gathering(morphs=True))
    assert found.matched == "by name, morph targets by name"
    assert len(found.findings) == 3 + len(morphs) + 1


def test_morph_targets_that_are_not_there_are_asked_for_in_one_line(folder: Path) -> None:
    where = (folder / "arm.glb", None, None, folder / "arm.examples")
    assert "holds no morph targets" in error_of(lambda: gather(*where, Gathering(morphs=True)))
    assert "--shapes, or --morphs" in error_of(lambda: gather(*where))
