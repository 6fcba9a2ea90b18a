"""The skin itself: one list of drivers for all that listens to them, and wrong calls named in one line."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_rig

import posespace as ps
from posespace.errors import FileError, InputError
from posespace.evaluation.storage import stored_bytes
from posespace.mesh import Mesh
from posespace.skin.basis import PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer


def driver(space: ps.PoseSpace, rng: np.random.Generator, components: int = 2) -> Driver:
    samples = rng.normal(size=(5, space.dimensions))
    return Driver(space, ps.RBF("linear").fit(samples, rng.normal(size=(5, components)), space.metric))


def listening_skin() -> ps.Skin:
    """A skin whose normals and whose control point have drivers of their own."""
    rng = np.random.default_rng(3)
    rig = random_rig(rng, joints=3)
    count = len(rig.mesh.points)
    support, basis = np.arange(count, dtype=np.int32), rng.normal(size=(2, count, 3))
    load, smile = (driver(ps.PoseSpace("controls", (name,)), rng) for name in ("load", "smile"))
    tip = driver(ps.PoseSpace("controls", ("tip.x", "tip.y", "tip.z")), rng)
    layers = (Layer("a", load, support, basis, basis, smile), Layer("b", tip, support, basis, basis))
    return ps.Skin(rig, layers)


def test_every_driver_is_listed_once_and_its_controls_are_known() -> None:
    skin = listening_skin()
    assert len(skin.drivers) == 3
    assert skin.control_names == ("load", "smile", "tip.x", "tip.y", "tip.z")
    pose = replace(skin.rig.rest, controls={"smile": 1.0, "load": 0.5, "tip.x": 1.0, "tip.y": 0.0, "tip.z": 0.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points, normals = skin.pose(pose)
    played = skin.compile()(pose)
    np.testing.assert_allclose(played[0], points, atol=1e-4 * skin.rig.mesh.diagonal)
    np.testing.assert_allclose(played[1], normals, atol=1e-3)


def test_a_control_that_moves_nothing_is_warned_of() -> None:
    skin = listening_skin()
    pose = replace(skin.rig.rest, controls={"smlie": 1.0, "tip.x": 0.0, "tip.y": 0.0, "tip.z": 0.0})
    with pytest.warns(UserWarning, match="'smlie' moves nothing in this skin; the closest is 'smile'"):
        skin.pose(pose)


def test_a_shared_driver_is_interpolated_once_and_stored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    skin = listening_skin()
    shared = skin.layers[1].driver
    twice = replace(skin, layers=(skin.layers[1], replace(skin.layers[1], name="c")))
    alone = replace(skin, layers=(skin.layers[1],))
    tables = shared.interpolant.centres.nbytes + shared.interpolant.weights.nbytes
    assert stored_bytes(twice) == 2 * (stored_bytes(alone) - tables) + tables
    calls: list[Driver] = []
    given = Driver.coordinates
    monkeypatch.setattr(Driver, "coordinates", lambda self, *args: calls.append(self) or given(self, *args))
    twice.pose(replace(skin.rig.rest, controls={"tip.x": 1.0, "tip.y": 0.0, "tip.z": 0.0}))
    assert calls == [shared]


def test_a_support_of_more_than_65536_vertices_is_saved_and_loaded(tmp_path: Path) -> None:
    count = 70_000
    points = np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)
    rig = ps.Rig.from_mesh(Mesh(points, np.array([[0, 1, 2]])))
    basis = PackedBasis.pack(points[None], 16)
    made = driver(ps.PoseSpace("controls", ("load",)), np.random.default_rng(1), components=1)
    skin = ps.Skin(rig, (Layer("a", made, np.arange(count, dtype=np.int32), basis),))
    skin.save(tmp_path / "large.skin")
    pose = replace(rig.rest, controls={"load": 0.3})
    np.testing.assert_array_equal(ps.Skin.load(tmp_path / "large.skin").pose(pose)[0], skin.pose(pose)[0])


def test_a_motion_in_place_of_a_pose_and_swapped_arguments_are_named(tmp_path: Path) -> None:
    rig = random_rig(np.random.default_rng(0))
    motion = ps.Motion.from_poses([rig.rest, rig.rest])
    shapes = np.stack([rig.mesh.points, rig.mesh.points])
    for call in (rig.skin, rig.blend, ps.Skin(rig).pose):
        with pytest.raises(InputError, match=r"expected one Pose, got Motion; pass one pose, e\.g\. motion\[0\]"):
            call(motion)  # type: ignore[operator]
    with pytest.raises(InputError, match=r"rig: expected a Rig, got Motion; call Examples\.from_shapes"):
        ps.Examples.from_shapes(motion, rig, shapes)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"motion: expected a Motion, got ndarray"):
        ps.Examples.from_shapes(rig, shapes, motion)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"skeleton: expected a Skeleton, got Rig; pass rig\.skeleton"):
        ps.load_motion(tmp_path / "clip.bvh", rig)  # type: ignore[arg-type]


def test_a_skin_is_not_saved_over_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "arm.glb").write_bytes(b"someone's work")
    with pytest.raises(FileError, match=r"arm\.glb: a skin is saved with the ending \.skin; for other programs"):
        ps.Skin(ps.datasets.bending_arm(rings=6, sides=6)[0].rig).save(tmp_path / "arm.glb")
    assert (tmp_path / "arm.glb").read_bytes() == b"someone's work"


def test_a_skin_without_layers_has_nothing_to_scale() -> None:
    skin = ps.Skin(ps.datasets.bending_arm(rings=6, sides=6)[0].rig)
    assert skin.edited().layers == ()
    for edit in ({"exaggerate": 0.0}, {"scale": {"forearm": 2.0}}):
        with pytest.raises(InputError, match="expected a skin with layers"):
            skin.edited(**edit)
