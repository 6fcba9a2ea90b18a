"""An order of vertices in which neighbours are near each other: the same surface, however it is subdivided."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.tube import tube

from posespace.geometry.edges import edges_of
from posespace.geometry.local_order import local_order
from posespace.geometry.subdivision import levels_of


@pytest.mark.parametrize("count", [0, 1, 2])
def test_it_is_the_same_surface_in_another_order(count: int) -> None:
    mesh = tube(12, 9)
    shuffle = np.random.default_rng(count).permutation(len(mesh.points))
    triangles = np.argsort(shuffle)[mesh.triangles].astype(np.int32)
    points = mesh.points[shuffle].astype(np.float64)
    local = local_order(triangles, len(points), count)
    fine, other, given = points, points[local.order[: len(points)]], triangles
    for level, moved in zip(levels_of(triangles, len(points), count), local.levels, strict=True):
        fine, other, given = level.refine(fine), moved.refine(other), level.triangles
    np.testing.assert_allclose(other, fine[local.order])
    assert sorted(local.order.tolist()) == list(range(len(fine)))
    found = local.order[local.levels[-1].triangles if count else local.triangles]
    assert {tuple(np.roll(row, -row.argmin())) for row in found} == {
        tuple(np.roll(row, -row.argmin())) for row in given
    }


def test_neighbours_are_nearer_than_in_a_shuffled_mesh() -> None:
    mesh = tube(40, 12)
    shuffle = np.random.default_rng(0).permutation(len(mesh.points))
    triangles = np.argsort(shuffle)[mesh.triangles].astype(np.int32)
    local = local_order(triangles, len(mesh.points), 0)
    spans = [np.abs(np.diff(edges_of(each).ends, axis=1)).mean() for each in (triangles, local.triangles)]
    assert spans[1] < 0.2 * spans[0]
