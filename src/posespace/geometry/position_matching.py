"""Vertices of two shapes of one surface matched by position: certain ones first, then their neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial import KDTree

from posespace.check import Floats, Ints
from posespace.geometry.edges import neighbours_of

Indices = NDArray[np.int64]

_CERTAIN = 0.4
"""A vertex is certain where the second nearest one is farther by more than this factor's inverse."""

_ROUNDS = 200
"""Largest number of rounds over the neighbours of matched vertices."""


def match_by_position(points: Floats, triangles: Ints, others: Floats) -> Indices | None:
    """Return for each vertex the matching one of another shape, or None where a match remains uncertain.

    Where the shapes barely differ, positions decide. From there matches spread over edges: a vertex is expected at its
    position plus the mean difference of its neighbours.

    Parameters
    ----------
    points, triangles : (V, 3) and (T, 3), the surface
    others : (V, 3) vertices in any order

    Returns
    -------
    vertices : (V,) numbers of `others`, each once
    """
    count = len(points)
    if len(others) != count:
        return None
    if count < 3:
        return None if count else np.zeros(0, np.int64)
    shape, targets = np.asarray(points, np.float64), np.asarray(others, np.float64)
    starts, near = neighbours_of(triangles, count)
    graph = csr_array((np.ones(len(near)), near, starts), shape=(count, count))
    matches, expected, asked = np.full(count, -1), shape, np.ones(count, dtype=bool)
    for _ in range(_ROUNDS):
        if not _claim(matches, expected, asked, targets):
            break
        matched = matches >= 0
        if matched.all():
            return matches
        offsets = np.where(matched[:, None], targets[matches] - shape, 0.0)
        around = graph @ matched.astype(np.float64)
        asked = (around > 0) & ~matched
        expected = shape + (graph @ offsets) / np.maximum(around, 1.0)[:, None]
    return None


def _claim(matches: Indices, expected: Floats, asked: NDArray[np.bool_], others: Floats) -> bool:
    """Match vertices that are asked for with free ones near where they are expected; return whether any was."""
    free = np.setdiff1d(np.arange(len(others)), matches[matches >= 0])
    rows = np.flatnonzero(asked)
    if not len(free) or not len(rows):
        return False
    distance, nearest = KDTree(others[free]).query(expected[rows], k=min(2, len(free)))
    distance, nearest = np.reshape(distance, (len(rows), -1)), np.reshape(nearest, (len(rows), -1))
    sure = np.ones(len(rows), dtype=bool) if len(free) == 1 else distance[:, 0] <= _CERTAIN * distance[:, 1]
    rows, chosen = rows[sure], free[nearest[sure, 0]]
    # Two that claim one vertex are both uncertain.
    once = np.bincount(chosen, minlength=len(others))[chosen] == 1
    matches[rows[once]] = chosen[once]
    return bool(once.any())
