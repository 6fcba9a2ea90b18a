"""Detail on every kind of surface: the compiled stage gives the points and normals of the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import random_points_skin, random_pose, random_rotations
from helpers.tolerances import has_normal, tolerances
from helpers.tube import tube

import posespace as ps
from posespace.geometry.subdivision import fine_vertex_count
from posespace.interpolate.rbf import RBF
from posespace.rig import pack_weights
from posespace.runtime.cpu.player import CPUPlayer
from posespace.runtime.detail.detail import PosedDetail
from posespace.runtime.detail.surface_normals import SurfaceNormals
from posespace.skeleton import Skeleton


def _grid() -> ps.Mesh:
    """A wavy sheet with a boundary."""
    y, x = np.mgrid[:5, :7].reshape(2, -1)
    points = np.stack([x, y, 0.3 * np.sin(x + 2 * y)], axis=1)
    a = (7 * np.arange(4)[:, None] + np.arange(6)).ravel()
    return ps.Mesh(points, np.concatenate([np.stack([a, a + 1, a + 8], 1), np.stack([a, a + 8, a + 7], 1)]))


def _split(rings: int = 4, sides: int = 5) -> ps.Mesh:
    """A tube whose triangles have vertices of their own, as at seams of a texture."""
    mesh = tube(rings, sides)
    return ps.Mesh(mesh.points[mesh.triangles].reshape(-1, 3), np.arange(3 * len(mesh.triangles)).reshape(-1, 3))


def _two_sided() -> ps.Mesh:
    """A sheet with a second side at the same positions."""
    grid = _grid()
    other = grid.triangles[:, ::-1] + len(grid.points)
    return ps.Mesh(np.concatenate([grid.points, grid.points]), np.concatenate([grid.triangles, other]))


def _apart() -> ps.Mesh:
    """Two tubes, and a vertex that no triangle has."""
    mesh = tube(4, 5)
    points = np.concatenate([mesh.points, [[0.0, 9.0, 9.0]], mesh.points + np.array([0.0, 4.0, 0.0])])
    return ps.Mesh(points, np.concatenate([mesh.triangles, mesh.triangles + len(mesh.points) + 1]))


def _pinched() -> ps.Mesh:
    """Three triangles at one edge, two that only share a vertex, and one of no area."""
    points = np.random.default_rng(3).normal(size=(9, 3))
    points[8] = (points[0] + points[1]) / 2
    return ps.Mesh(points, np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4], [4, 5, 6], [4, 7, 6], [0, 8, 1]]))


def _degenerate() -> ps.Mesh:
    """A sheet of which some triangles are there twice, and some have equal corners."""
    grid = _grid()
    extra = [[0, 1, 8], [8, 0, 1], [8, 1, 0], [3, 3, 4], [4, 4, 3], [9, 9, 9]]
    return ps.Mesh(grid.points, np.concatenate([grid.triangles, extra]))


MESHES = {
    "closed": tube(6, 5),
    "boundary": _grid(),
    "seams": _split(),
    "two sides": _two_sided(),
    "apart": _apart(),
    "pinched": _pinched(),
    "degenerate": _degenerate(),
    "one triangle": ps.Mesh(np.eye(3), np.array([[0, 1, 2]])),
    "no triangle": ps.Mesh(np.eye(3), np.zeros((0, 3), np.int32)),
}


def detailed(mesh: ps.Mesh, levels: int, components: int, scale: float = 1.0) -> ps.Skin:
    """A rig of three joints whose mesh has detail that a control drives."""
    rng = np.random.default_rng(levels)
    joints = Skeleton.from_world(["a", "b", "c"], [-1, 0, 1], np.tile(np.eye(4), (3, 1, 1)))
    moved = ps.Mesh(scale * mesh.points, mesh.triangles)
    rig = ps.Rig(moved, joints, *pack_weights(rng.random((len(mesh.points), 3))))
    space = ps.PoseSpace("controls", ("smile",))
    values = RBF("gaussian", 1.0).fit(np.array([[0.0], [1.0]]), rng.normal(size=(2, components)), space.metric)
    fine = fine_vertex_count(mesh.triangles, len(mesh.points), levels)
    heights = 0.05 * scale * rng.normal(size=(components, fine))
    return ps.Skin(rig, detail=ps.Detail(levels, ps.Driver(space, values), heights))


def assert_same(skin: ps.Skin, player: ps.Player, pose: ps.Pose) -> None:
    points, normals = player(pose)
    want, want_normals = skin.pose(pose)
    allowed = tolerances(skin, pose)
    assert normals is not None
    assert (np.linalg.norm(points - want, axis=1) <= allowed.points).all()
    assert (np.linalg.norm(normals - want_normals, axis=1) <= allowed.normals).all()


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_every_surface_has_the_references_points_and_normals(name: str, levels: int) -> None:
    skin = detailed(MESHES[name], levels, 5)
    pose = ps.Pose(random_rotations(np.random.default_rng(0), 3), controls={"smile": 0.4})
    for threads in (1, 2):
        assert_same(skin, CPUPlayer(skin, threads=threads), pose)


def _shuffled(mesh: ps.Mesh) -> ps.Mesh:
    order = np.random.default_rng(0).permutation(len(mesh.points))
    return ps.Mesh(mesh.points[order], np.argsort(order)[mesh.triangles])


def _with_hub() -> ps.Mesh:
    """A tube with a vertex that many triangles have, near and far."""
    mesh = tube(40, 24)
    far = np.random.default_rng(1).choice(len(mesh.points) - 1, (300, 2)) + 1
    return ps.Mesh(mesh.points, np.concatenate([mesh.triangles, np.insert(far[far[:, 0] != far[:, 1]], 0, 0, axis=1)]))


def _gathered(mesh: ps.Mesh, count: int, seed: int = 2) -> ps.Mesh:
    """A surface of which many vertices, near and far, are at two positions."""
    chosen = np.random.default_rng(seed).permutation(len(mesh.points))[: 2 * count]
    points = mesh.points.copy()
    points[chosen[:count]], points[chosen[count:]] = points[chosen[0]], points[chosen[-1]]
    return ps.Mesh(points, mesh.triangles)


LARGE = {
    "tube": tube(40, 24),
    "shuffled": _shuffled(tube(40, 24)),
    "seams": _shuffled(_split(40, 24)),
    "hub": _with_hub(),
    "gathered": _gathered(tube(40, 24), 200),
    "gathered seams": _gathered(_shuffled(_split(40, 24)), 900),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("levels", [0, 1, 2])
def test_surfaces_of_many_tiles(name: str, levels: int) -> None:
    skin = detailed(LARGE[name], levels, 2)
    pose = ps.Pose(random_rotations(np.random.default_rng(0), 3), controls={"smile": 0.4})
    one, two = (CPUPlayer(skin, threads=threads) for threads in (1, 2))
    assert_same(skin, two, pose)
    for a, b in zip(one(pose), two(pose), strict=True):
        assert a is not None
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_many_vertices_at_one_position_take_room_in_proportion(levels: int) -> None:
    sizes = []
    for count in (500, 1000):
        fan = np.stack([np.zeros(count), np.arange(count) + 1, np.arange(count) + 1 + count], axis=1).astype(np.int32)
        points = np.zeros((2 * count + 1, 3))
        points[1 + count :] = np.random.default_rng(0).normal(size=(count, 3))
        skin = detailed(ps.Mesh(points, fan), levels, 1)
        assert skin.detail is not None
        sizes.append(PosedDetail(skin, skin.detail, 0, 1).nbytes)
    assert sizes[1] < 2.5 * sizes[0]


def test_normals_of_the_surface_are_the_references_where_vertices_share_them() -> None:
    for mesh in LARGE.values():
        normals = np.zeros(mesh.points.shape, np.float32)
        SurfaceNormals(mesh, 2).write(mesh.points, normals)
        known = has_normal(mesh, mesh.points)
        np.testing.assert_allclose(normals[known], mesh.normals()[known], atol=2e-4)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_triangle_that_names_a_vertex_twice_has_no_normal(threads: int) -> None:
    points = np.random.default_rng(5).normal(size=(20, 3))
    triangles = np.random.default_rng(6).choice(20, (60, 2))
    mesh = ps.Mesh(points, np.concatenate([triangles, triangles[:, 1:]], axis=1))
    skin = detailed(mesh, 1, 2)
    pose = ps.Pose(random_rotations(np.random.default_rng(0), 3), controls={"smile": 0.4})
    points, normals = CPUPlayer(skin, threads=threads)(pose)
    np.testing.assert_allclose(points, skin.pose(pose)[0], atol=1e-5)
    np.testing.assert_array_equal(normals, np.tile((0.0, 0.0, 1.0), (len(points), 1)))


@pytest.mark.parametrize("bits", [32, 16, 8])
@pytest.mark.parametrize("components", [1, 2, 3, 4, 9])
def test_any_number_of_components_in_any_type(bits: int, components: int) -> None:
    skin = detailed(MESHES["boundary"], 1, components).packed(bits)
    pose = ps.Pose(random_rotations(np.random.default_rng(1), 3), controls={"smile": 0.7})
    assert_same(skin, skin.compile(), pose)


@pytest.mark.parametrize("scale", [1e-9, 1e8])
def test_normals_of_tiny_and_of_huge_surfaces_have_unit_length(scale: float) -> None:
    skin = detailed(MESHES["closed"], 1, 2, scale)
    pose = ps.Pose(np.tile((0.0, 0.0, 0.0, 1.0), (3, 1)), controls={"smile": 0.4})
    assert_same(skin, skin.compile(), pose)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_detail_that_bones_drive_is_that_of_the_reference(seed: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    skin = random_points_skin(rng)
    assert skin.detail is not None
    mesh = skin.rig.mesh
    fine = fine_vertex_count(mesh.triangles, len(mesh.points), levels)
    heights = 0.1 * rng.normal(size=(len(skin.detail.heights), fine))
    skin = replace(skin, detail=replace(skin.detail, levels=levels, heights=heights)).packed((32, 16, 8)[seed % 3])
    assert_same(skin, CPUPlayer(skin, threads=1 + seed % 2), random_pose(rng, skin.rig))


def test_points_alone_are_those_that_come_with_normals() -> None:
    skin = detailed(MESHES["closed"], 2, 3)
    pose = ps.Pose(random_rotations(np.random.default_rng(2), 3), controls={"smile": 0.2})
    points, normals = skin.compile(normals=False)(pose)
    assert normals is None
    np.testing.assert_array_equal(points, skin.compile()(pose)[0])


def test_one_core_and_a_clone_give_the_numbers_of_two_cores() -> None:
    skin = detailed(MESHES["apart"], 1, 3)
    assert skin.detail is not None
    stage = PosedDetail(skin, skin.detail, 0, 2)
    coarse, coordinates = skin.rig.mesh.points.astype(np.float32), np.array([0.5, -1.0, 2.0])
    shapes = []
    for posed in (stage, stage.clone()):
        shapes.append([np.zeros(skin.mesh.points.shape, np.float32) for _ in range(2)])
        posed.add(coarse, coordinates, *shapes[-1])
    stage.on_one_core()
    shapes.append([np.zeros(skin.mesh.points.shape, np.float32) for _ in range(2)])
    stage.add(coarse, coordinates, *shapes[-1])
    np.testing.assert_array_equal(shapes[0], shapes[1])
    np.testing.assert_array_equal(shapes[0], shapes[2])
