"""Meshes and poses written and read back: vertex order, triangles, polygons and numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_pose, random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@st.composite
def meshes(draw: st.DrawFn) -> ps.Mesh:
    """Polygons of 3 to 5 corners between points of any size, some points in no polygon, some repeated."""
    rng = np.random.default_rng(draw(seeds))
    kind = draw(st.sampled_from([np.float32, np.float64]))
    points = (rng.normal(size=(draw(st.integers(5, 40)), 3)) * 10.0 ** draw(st.integers(-6, 6))).astype(kind)
    points[-1] = points[0]
    sizes = rng.integers(3, draw(st.integers(4, 6)), size=draw(st.integers(1, 30)))
    corners = np.concatenate([rng.permutation(len(points))[:size] for size in sizes])
    return ps.Mesh.from_polygons(points, corners, sizes)


@pytest.mark.parametrize("ending", ["obj", "ply", "glb", "gltf"])
@settings(max_examples=25)
@given(mesh=meshes())
def test_a_mesh_comes_back_in_its_order(folder: Path, ending: str, mesh: ps.Mesh) -> None:
    path = folder / f"mesh.{ending}"
    moved = mesh.points * 2
    ps.save_mesh(mesh, path, moved)
    back = ps.load_mesh(path)
    assert np.array_equal(back.triangles, mesh.triangles)
    if "gl" in ending or mesh.points.dtype == np.float32:
        assert np.array_equal(back.points.astype(np.float32), moved.astype(np.float32))
    elif ending == "ply":
        assert np.array_equal(back.points, moved)
    else:
        np.testing.assert_allclose(back.points, moved, rtol=1e-8)
    if "gl" not in ending:
        assert back.face_count == mesh.face_count


@settings(max_examples=25)
@given(seed=seeds)
def test_poses_come_back_to_the_last_bit(folder: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    skeleton, poses = rig.skeleton, [random_pose(rng, rig) for _ in range(3)]
    motion = ps.Motion.from_poses(poses, ("a/b", " ", "\n"), rng.random(3))
    ps.save_poses(motion, skeleton, folder / "poses.json")
    back = ps.load_motion(folder / "poses.json", skeleton)
    assert (back.names, back.control_names) == (motion.names, motion.control_names)
    for part in ("rotations", "translations", "times", "controls"):
        assert np.array_equal(getattr(back, part), getattr(motion, part)), part


def test_what_cannot_be_saved_is_said(tmp_path: Path) -> None:
    rig = random_rig(np.random.default_rng(0))
    motion = ps.Motion.from_poses([rig.rest])
    cloud = ps.Mesh(rig.mesh.points, np.zeros((0, 3), int))
    for save, problem in [
        (
            lambda: ps.save_mesh(rig.mesh, tmp_path / "a.fbx"),
            r"a\.fbx: cannot be written; meshes .* \.glb \.gltf \.obj",
        ),
        (lambda: ps.save_mesh(rig, tmp_path / "a.obj"), "expected a Mesh, got Rig; pass rig.mesh"),  # type: ignore[arg-type]
        (lambda: ps.save_mesh(rig.mesh.points, tmp_path / "a.obj"), r"got ndarray; make one with ps\.Mesh"),  # type: ignore[arg-type]
        (lambda: ps.save_mesh(rig.mesh, tmp_path / "a.obj", rig.mesh.points[:3]), r"expected shape \(20, 3\)"),
        (lambda: ps.save_mesh(cloud, tmp_path / "a.glb"), r"a\.glb: glTF draws triangles, and the mesh has none"),
        (lambda: ps.save_mesh(ps.Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)), tmp_path / "a.obj"), "one vertex"),
        (lambda: ps.save_mesh(rig.mesh, tmp_path / "no" / "a.obj"), r"no/a\.obj: cannot be written"),
        (lambda: ps.save_poses(motion, rig.skeleton, tmp_path / "a.bvh"), r"a\.bvh: cannot be written; .* \.json"),
        (lambda: ps.save_poses(rig.rest, rig.skeleton, tmp_path / "a.json"), r"got Pose; pass Motion\.from_poses"),  # type: ignore[arg-type]
        (lambda: ps.save_poses(motion, rig, tmp_path / "a.json"), r"expected a Skeleton, got Rig; pass rig\.skeleton"),  # type: ignore[arg-type]
        (lambda: ps.save_poses(motion[:0], rig.skeleton, tmp_path / "a.json"), "at least one pose"),
        (
            lambda: ps.save_mesh("a.obj", rig.mesh),
            r"save_mesh: expected the path last, .* call save_mesh\(",
        ),  # type: ignore[arg-type]
        (lambda: ps.save_poses("a.json", motion, rig.skeleton), r"call save_poses\(motion, skeleton, path\)"),  # type: ignore[arg-type]
        (
            lambda: ps.save_limits("a.glb", "b.glb", {}),
            r"call save_limits\(ranges, source, path",
        ),  # type: ignore[arg-type]
    ]:
        with pytest.raises(ps.InputError, match=problem):
            save()
    assert list(tmp_path.iterdir()) == []
