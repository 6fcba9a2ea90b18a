"""Loop's subdivision: it reproduces planes, keeps the vertices' order, and rounds what is coarse."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posespace.geometry.loop import loop_subdivide
from posespace.geometry.subdivision import subdivide

OCTAHEDRON = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
FACES = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


@given(st.lists(st.floats(-5, 5), min_size=12, max_size=12))
def test_an_affine_motion_commutes_with_it(numbers: list[float]) -> None:
    matrix, shift = np.array(numbers[:9]).reshape(3, 3), np.array(numbers[9:])
    _, weights = loop_subdivide(FACES, len(OCTAHEDRON))
    moved = weights @ (OCTAHEDRON @ matrix + shift)
    np.testing.assert_allclose(moved, (weights @ OCTAHEDRON) @ matrix + shift, atol=1e-9)


def test_its_triangles_are_those_of_plain_subdivision_and_it_nears_a_round_surface() -> None:
    level, weights = loop_subdivide(FACES, len(OCTAHEDRON))
    np.testing.assert_array_equal(level.triangles, subdivide(FACES, len(OCTAHEDRON)).triangles)
    once = weights @ OCTAHEDRON
    again = loop_subdivide(level.triangles, len(once))[1] @ once
    spread = [np.ptp(np.linalg.norm(points, axis=1)) for points in (level.refine(OCTAHEDRON), again)]
    assert spread[1] < 0.3 * spread[0]
