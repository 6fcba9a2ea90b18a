"""Closest points, inside and outside, crossings: against answers found triangle by triangle."""

from __future__ import annotations

import numpy as np
from helpers.tube import tube
from hypothesis import given, settings
from hypothesis import strategies as st

from posespace.check import Floats, Ints
from posespace.geometry.surface import Surface

seeds = st.integers(0, 2**32 - 1)


def soup(rng: np.random.Generator, count: int) -> tuple[Floats, Ints]:
    """Triangles of all shapes, among them some without area."""
    points = rng.normal(size=(count, 3))
    triangles = rng.integers(0, count, (3 * count, 3)).astype(np.int32)
    triangles[0] = triangles[0, 0]
    return points, triangles


def distance(place: Floats, corners: Floats) -> float:
    """Distance from a place (3,) to a triangle (3, 3): to its plane where that is met inside, else to its edges."""
    a, b, c = corners
    best = np.inf
    for start, end in ((a, b), (b, c), (c, a)):
        along = end - start
        share = np.clip((place - start) @ along / max(along @ along, 1e-300), 0, 1)
        best = min(best, float(np.linalg.norm(place - start - share * along)))
    normal = np.cross(b - a, c - a)
    if normal @ normal > 0:
        inside = [np.cross(e - s, place - s) @ normal >= 0 for s, e in ((a, b), (b, c), (c, a))]
        best = min(best, abs((place - a) @ normal) / float(np.linalg.norm(normal))) if all(inside) else best
    return best


@given(seeds, st.integers(1, 25))
@settings(max_examples=30)
def test_the_closest_point_is_that_of_the_nearest_of_all_triangles(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points, triangles = soup(rng, count)
    places = 1.5 * rng.normal(size=(12, 3))
    found = Surface(points, triangles).closest(places)
    brute = [min(distance(place, corners) for corners in points[triangles]) for place in places]
    np.testing.assert_allclose(np.linalg.norm(found.points - places, axis=1), brute, atol=1e-9)
    assert found.shares.min() > -1e-9
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    again = np.einsum("qk,qki->qi", found.shares, points[triangles[found.triangles]])
    np.testing.assert_allclose(again, found.points, atol=1e-9)


def test_only_triangles_that_face_the_way_asked_for_count() -> None:
    mesh = tube()
    skin = Surface(mesh.points, mesh.triangles)
    places = np.array([[0.0, 0.3, 0.0], [0.5, 0.2, 0.1]])
    up, down = (skin.closest(places, np.array([[0.0, y, 0.0]] * 2)).points for y in (1.0, -1.0))
    assert (up[:, 1] > 0.1).all()
    assert (down[:, 1] < -0.1).all()


def test_questions_to_a_surface() -> None:
    mesh = tube()
    skin = Surface(mesh.points, mesh.triangles)
    places = np.random.default_rng(1).uniform(-4, 4, (300, 3))
    nearest, triangle, _ = skin.closest(places)
    corners = skin.corners.reshape(-1, 3)
    brute = np.linalg.norm(places[:, None] - corners, axis=2).min(axis=1)
    gap = np.linalg.norm(nearest - places, axis=1)
    assert (gap <= brute + 1e-12).all()
    assert triangle.min() >= 0
    inside = np.hypot(places[:, 1], places[:, 2]) < 0.9 * np.sqrt(np.clip(1 - (np.abs(places[:, 0]) / 3) ** 4, 0, 1))
    assert (skin.signed_distance(places)[inside] < 0).all()
    assert (skin.signed_distance(places)[np.abs(places[:, 1]) > 1.01] > 0).all()


def test_crossings_are_found_and_neighbours_do_not_count() -> None:
    mesh = tube()
    skin = Surface(mesh.points, mesh.triangles)
    assert not len(skin.crossings())
    moved = mesh.points + np.array([0, 0.9, 0])
    both = Surface(np.vstack([mesh.points, moved]), np.vstack([mesh.triangles, mesh.triangles + len(mesh.points)]))
    crossed = both.crossings()
    assert len(crossed) > 20
    assert np.abs(both.corners[crossed].mean(axis=1)[:, 1] - 0.45).max() < 0.6
