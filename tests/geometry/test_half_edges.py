"""Vertices in another order: matched by faces or by places, and right or refused."""

from __future__ import annotations

import numpy as np
from helpers.samples import quick
from helpers.shuffles import bulged, shuffled
from helpers.strategies import seeds
from helpers.tube import tube
from hypothesis import given
from hypothesis import strategies as st

from posespace import datasets
from posespace.geometry.half_edges import HalfEdges, half_edges, match_by_faces
from posespace.geometry.position_matching import match_by_position
from posespace.mesh import Mesh


def sides(mesh: Mesh) -> HalfEdges:
    return half_edges(*mesh.polygons(), len(mesh.points))


@quick
@given(seeds)
def test_a_shuffled_sculpt_is_matched_by_its_faces_however_far_it_moves_vertices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = tube(20, 12)
    # With some holes, so that no turn of the tube takes it onto itself.
    mesh = Mesh(whole.points, rng.permutation(whole.triangles)[6:])
    sculpt = mesh.with_points(bulged(rng, mesh, mesh.points, 0.1))
    other, order = shuffled(rng, sculpt)
    found = match_by_faces(sides(mesh), mesh.points, sides(other), other.points)
    assert found is not None
    assert np.array_equal(found, np.argsort(order))


def test_polygons_keep_their_match_whatever_corner_they_begin_with() -> None:
    corners = np.array([[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]])
    points = np.array([[x, y, 0.1 * x * y * y] for y in (0.0, 1.0, 2.0) for x in (0.0, 1.0, 2.0)])
    mesh = Mesh.from_polygons(points, corners.ravel(), [4] * 4)
    order = np.array([4, 8, 0, 3, 7, 1, 2, 6, 5])
    turned = np.roll(np.argsort(order)[corners], 1, axis=1)[::-1]
    other = Mesh.from_polygons(points[order], turned.ravel(), [4] * 4)
    found = match_by_faces(sides(mesh), points, sides(other), other.points)
    assert found is not None
    assert np.array_equal(order[found], np.arange(9))


def test_other_faces_and_shapes_that_could_be_matched_in_two_ways_are_refused() -> None:
    mesh = tube(8, 6)
    cut = Mesh(mesh.points, mesh.triangles[:-1])
    assert match_by_faces(sides(mesh), mesh.points, sides(cut), cut.points) is None
    # Turned by half a side, a tube fits as well one side further on.
    turn = np.pi / 6
    points = mesh.points @ np.array([[1, 0, 0], [0, np.cos(turn), -np.sin(turn)], [0, np.sin(turn), np.cos(turn)]])
    other, _ = shuffled(np.random.default_rng(0), mesh.with_points(points))
    assert match_by_faces(sides(mesh), mesh.points, sides(other), other.points) is None


@quick
@given(seeds, st.floats(0.0, 0.1))
def test_places_alone_match_a_gentle_sculpt_and_a_strong_one_rightly_or_not_at_all(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    mesh = datasets.bending_arm(rings=12, sides=8)[0].rig.mesh
    points = bulged(rng, mesh, mesh.points, size)
    order = rng.permutation(len(points))
    found = match_by_position(mesh.points, mesh.triangles, points[order])
    assert size > 0.005 or found is not None
    assert found is None or np.array_equal(order[found], np.arange(len(points)))


def test_places_that_leave_a_doubt_are_refused() -> None:
    mesh = tube(20, 12)
    rng = np.random.default_rng(0)
    noisy = mesh.points + rng.normal(size=mesh.points.shape)
    assert match_by_position(mesh.points, mesh.triangles, noisy) is None
    assert match_by_position(mesh.points, mesh.triangles, mesh.points[1:]) is None
