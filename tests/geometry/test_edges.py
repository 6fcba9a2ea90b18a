"""Edges, neighbours and faces against what loops find."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from helpers.boxes import box
from helpers.tube import tube
from hypothesis import given
from hypothesis import strategies as st

from posespace.check import Ints
from posespace.geometry.edges import distinct, edges_of, neighbours_of, triangles_around
from posespace.geometry.subdivision import subdivide
from posespace.geometry.tetrahedra import boundary

VERTICES = 9
corners = st.lists(st.tuples(*[st.integers(0, VERTICES - 1)] * 3), max_size=30)


def sides(triangle: tuple[int, int, int]) -> list[tuple[int, int]]:
    return [(min(pair), max(pair)) for pair in pairwise((*triangle, triangle[0]))]


def as_triangles(rows: list[tuple[int, int, int]]) -> Ints:
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


@given(corners)
def test_edges_are_those_of_all_triangles(rows: list[tuple[int, int, int]]) -> None:
    found = edges_of(as_triangles(rows))
    counted = Counter(side for row in rows for side in sides(row))
    assert [tuple(ends) for ends in found.ends.tolist()] == sorted(counted)
    assert found.counts.tolist() == [counted[edge] for edge in sorted(counted)]
    assert [[tuple(found.ends[k].tolist()) for k in own] for own in found.sides] == [sides(row) for row in rows]


@given(corners)
def test_neighbours_share_an_edge(rows: list[tuple[int, int, int]]) -> None:
    starts, neighbours = neighbours_of(as_triangles(rows), VERTICES)
    pairs = {pair for row in rows for a, b in sides(row) for pair in ((a, b), (b, a)) if a != b}
    for vertex in range(VERTICES):
        own = neighbours[starts[vertex] : starts[vertex + 1]].tolist()
        assert own == sorted(other for one, other in pairs if one == vertex)


@given(corners)
def test_triangles_around_a_vertex_have_it_as_a_corner(rows: list[tuple[int, int, int]]) -> None:
    starts, around = triangles_around(as_triangles(rows), VERTICES)
    for vertex in range(VERTICES):
        own = around[starts[vertex] : starts[vertex + 1]].tolist()
        assert own == [t for t, row in enumerate(rows) for corner in row if corner == vertex]


@given(st.lists(st.tuples(*[st.integers(0, 2_000_000)] * 3), min_size=1, max_size=20))
def test_rows_are_told_apart_whatever_their_order(rows: list[tuple[int, int, int]]) -> None:
    given_rows = np.array(rows + [(c, a, b) for a, b, c in rows])
    kept, inverse, counts = distinct(given_rows)
    assert [tuple(row) for row in kept.tolist()] == sorted({tuple(sorted(row)) for row in rows})
    np.testing.assert_array_equal(kept[inverse], np.sort(given_rows, axis=1))
    assert counts.sum() == len(given_rows)


def test_a_closed_surface_has_two_triangles_per_edge_and_subdivides_at_each() -> None:
    mesh = tube(6, 5)
    found = edges_of(mesh.triangles)
    assert (found.counts == 2).all()
    assert len(mesh.points) - len(found.ends) + len(mesh.triangles) == 2
    fine = subdivide(mesh.triangles, len(mesh.points))
    np.testing.assert_array_equal(fine.edges, found.ends)
    assert (edges_of(fine.triangles).counts == 2).all()
    assert len(edges_of(fine.triangles).ends) == 2 * len(found.ends) + 3 * len(mesh.triangles)


@pytest.mark.parametrize("nodes", [4, 10])
def test_the_boundary_is_closed_and_looks_outward(nodes: int) -> None:
    points, tets = box((2, 2, 2), (1.0, 2.0, 3.0), nodes, jitter=0.2)
    faces, owner = boundary(tets)
    a, b, c = (points[faces[:, k]] for k in range(3))
    assert np.isclose((np.cross(a, b) * c).sum() / 6, 6)
    assert np.isclose(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2, 22)
    assert (edges_of(faces).counts == 2).all()
    assert (faces[:, :, None] == tets[owner][:, None]).any(axis=2).all()


def test_the_boundary_has_the_faces_that_occur_once() -> None:
    _, tets = box((2, 1, 2), (1.0, 1.0, 1.0), 4)
    counted = Counter(tuple(sorted(np.delete(tet, k).tolist())) for tet in tets for k in range(4))
    faces = {tuple(sorted(face)) for face in boundary(tets)[0].tolist()}
    assert faces == {face for face, count in counted.items() if count == 1}
