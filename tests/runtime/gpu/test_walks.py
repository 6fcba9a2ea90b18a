"""The walks around vertices pass every triangle once."""

from __future__ import annotations

import numpy as np
from helpers.strategies import seeds
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from posespace.mesh import Mesh
from posespace.runtime.detail.surface_normals import fans_of
from posespace.runtime.gpu.walks import CENTRE, START, walks_of


@given(seeds, st.integers(1, 30), st.integers(0, 150))
def test_walks_pass_every_triangle_around_a_position_once(seed: int, vertices: int, triangles: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, size=(vertices, 3)).astype(float)
    mesh = Mesh(points, rng.integers(0, vertices, size=(triangles, 3)))
    walks, starts, _ = walks_of(mesh)
    fans = fans_of(mesh)
    assert ((starts > 0) == (np.diff(fans.starts) > 0)).all()
    rows = np.append(starts[starts > 0], len(walks))
    for group, first, last in zip(np.flatnonzero(starts), rows[:-1], rows[1:], strict=True):
        wanted = fans.triangles[fans.around[fans.starts[group] : fans.starts[group + 1]]]
        assert sorted(passed(walks[first:last].ravel())) == sorted(rolled(*corners) for corners in wanted.tolist())


def passed(steps: NDArray[np.uint32]) -> list[tuple[int, int, int]]:
    """The triangles that a walk passes."""
    found, centre, before = [], 0, 0
    for step in steps.tolist():
        here = step & (START - 1)
        if step & CENTRE:
            centre = here
        elif not step & START:
            found.append(rolled(centre, before, here))
        before = here
    return found


def rolled(a: int, b: int, c: int) -> tuple[int, int, int]:
    """A triangle with its lowest corner first."""
    return min((a, b, c), (b, c, a), (c, a, b))
