"""Subdivision: how many vertices a level has is known before it is made, whatever the triangles are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posespace.errors import InputError
from posespace.geometry.subdivision import fine_vertex_count, levels_of

corners = st.integers(0, 4)


@given(st.lists(st.tuples(corners, corners, corners), max_size=9))
def test_the_count_is_that_of_the_levels(triangles: list[tuple[int, int, int]]) -> None:
    faces = np.array(triangles, np.int32).reshape(-1, 3)
    counts = [5]
    for number, level in enumerate(levels_of(faces, 5, 4)):
        counts.append(counts[number] + len(level.edges))
    assert [fine_vertex_count(faces, 5, levels) for levels in range(5)] == counts


def test_many_equal_triangles_are_not_subdivided_often() -> None:
    faces = np.tile(np.array([(0, 1, 2)], np.int32), (100_000, 1))
    assert fine_vertex_count(faces, 3, 2) == 15
    with pytest.raises(InputError, match="expected most triangles once"):
        fine_vertex_count(faces, 3, 6)


@pytest.mark.parametrize("extra", [(0, 1, 2), (2, 1, 0), (0, 0, 1), (1, 1, 0), (2, 2, 2)])
def test_a_repeated_or_degenerate_triangle_is_counted(extra: tuple[int, int, int]) -> None:
    faces = np.array([(0, 1, 2), (0, 2, 3), extra], np.int32)
    made = levels_of(faces, 4, 3)
    assert fine_vertex_count(faces, 4, 3) == 4 + sum(len(level.edges) for level in made)
