"""Normals against cross products, and relaxing, which keeps to the surface."""

from __future__ import annotations

import numpy as np
from helpers.tube import tube
from hypothesis import given
from hypothesis import strategies as st

from posespace.geometry.normals import area_vectors, sides_apart, vertex_normals, vertex_sums
from posespace.geometry.relax import relaxed
from posespace.geometry.weld import weld_points
from posespace.mesh import Mesh
from posespace.runtime.detail.surface_normals import SurfaceNormals

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_a_normal_is_the_sum_of_the_cross_products_around(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, triangles = rng.normal(size=(10, 3)), rng.integers(0, 9, (15, 3))
    normals = vertex_normals(points, triangles)
    for vertex, normal in enumerate(normals):
        total = np.zeros(3)
        for row in triangles:
            a, b, c = points[row]
            total += (row == vertex).sum() * np.cross(b - a, c - a)
        length = np.linalg.norm(total)
        np.testing.assert_allclose(normal, total / length if length > 0 else 0, atol=1e-9)
    assert not normals[9].any()


@given(seeds)
def test_a_seam_has_one_normal(seed: int) -> None:
    mesh = tube(5, 4)
    split = mesh.points[mesh.triangles].reshape(-1, 3)
    apart = np.random.default_rng(seed).permutation(len(split))
    triangles = np.argsort(apart).reshape(-1, 3)
    weld = weld_points(split[apart])
    assert len(weld.first) == len(mesh.points)
    normals = vertex_normals(split[apart], triangles, weld.groups)
    whole = vertex_normals(mesh.points, mesh.triangles)
    np.testing.assert_allclose(normals[triangles.ravel()], whole[mesh.triangles.ravel()], atol=1e-9)


@given(seeds)
def test_the_two_sides_of_a_sheet_have_normals_of_their_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flat = np.array([[x, y, 0.0] for y in range(4) for x in range(3)]) + rng.normal(0, 0.1, (12, 3))
    corners = [[k, k + 1, k + 3] for k in (0, 1, 3, 4, 6, 7)] + [[k + 1, k + 4, k + 3] for k in (0, 1, 3, 4, 6, 7)]
    front = np.array(corners)
    # Each triangle has vertices of its own, as at seams of a texture.
    apart = np.concatenate([flat[front], flat[front[:, ::-1]]]).reshape(-1, 3)
    sheet = Mesh(apart[order := rng.permutation(len(apart))], np.argsort(order).reshape(-1, 3))
    whole = vertex_normals(flat.astype(sheet.points.dtype), front)
    expected = np.concatenate([whole[front], -whole[front[:, ::-1]]]).reshape(-1, 3)[order]
    np.testing.assert_allclose(sheet.normals(), expected, atol=1e-4)
    assert len(sheet.weld.first) == 12
    assert len(sheet.shading.first) == 24
    assert (np.diff(sheet.shading.first) > 0).all()
    played = np.zeros((len(apart), 3), np.float32)
    SurfaceNormals(sheet, 1).write(sheet.points, played)
    np.testing.assert_allclose(played, expected, atol=1e-4)


def test_a_closed_surface_shares_its_normals_by_position() -> None:
    mesh = tube(5, 4)
    split = mesh.points[mesh.triangles].reshape(-1, 3)
    weld = weld_points(split)
    assert sides_apart(split, np.arange(len(split)).reshape(-1, 3), weld) is weld


def test_a_tubes_normals_look_outward_and_its_area_vectors_cancel() -> None:
    mesh = tube()
    around = mesh.points * (0, 1, 1)
    normals = vertex_normals(mesh.points, mesh.triangles)
    middle = np.abs(mesh.points[:, 0]) < 1
    assert ((normals * around).sum(axis=1)[middle] > 0.9).all()
    areas = area_vectors(mesh.points, mesh.triangles)
    np.testing.assert_allclose(areas.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(vertex_sums(areas, mesh.triangles, len(mesh.points)).sum(axis=0), 0, atol=1e-9)


def test_relaxing_moves_across_the_normals_and_evens_out() -> None:
    n = 8
    grid = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2).astype(np.float64)
    inner = ((grid > 0) & (grid < n - 1)).all(axis=1)
    points = np.column_stack([grid, np.zeros(len(grid))])
    points[inner, :2] += np.random.default_rng(0).uniform(-0.3, 0.3, (int(inner.sum()), 2))
    a = (np.arange(n - 1) + n * np.arange(n - 1)[:, None]).ravel()
    triangles = np.concatenate([np.stack([a, a + 1, a + n + 1], axis=1), np.stack([a, a + n + 1, a + n], axis=1)])
    off = np.abs(points[:, :2] - grid)[inner].max()
    for _ in range(20):
        normals = vertex_normals(points, triangles)
        moved = relaxed(points, triangles, normals, np.linalg.norm(area_vectors(points, triangles), axis=1))
        np.testing.assert_array_equal(moved[:, 2], 0)
        points[inner] = moved[inner]
    assert np.abs(points[:, :2] - grid)[inner].max() < 0.5 * off
