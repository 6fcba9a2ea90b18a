"""Edges and neighbours of triangles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Ints


class Edges(NamedTuple):
    """The edges of a triangle surface, in order of their lower and then their higher end.

    Parameters
    ----------
    ends : (E, 2) int32, lower end first
    sides : (T, 3) int32, the edges of each triangle: from its corner 0 to 1, 1 to 2, and 2 to 0
    counts : (E,) int32, how many triangles meet in each edge
    """

    ends: Ints
    sides: Ints
    counts: Ints


def edges_of(triangles: Ints) -> Edges:
    """Return the edges of triangles (T, 3). A triangle that names a vertex twice in a row has an edge of no length."""
    corners = np.asarray(triangles, dtype=np.int64)
    pairs = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2)
    ends, sides, counts = distinct(pairs)
    return Edges(ends.astype(np.int32), sides.reshape(-1, 3).astype(np.int32), counts.astype(np.int32))


def distinct(rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Tell rows of vertices (R, K) apart, whatever the order within each.

    Returns
    -------
    rows : (D, K) each that occurs, once, lowest vertex first, in order
    inverse : (R,) which of them each given row is
    counts : (D,) how often each occurs
    """
    ordered = np.sort(np.asarray(rows, dtype=np.int64), axis=1)
    base = int(ordered.max(initial=0)) + 1
    # One number per row is far quicker to sort than rows are; three vertices fit up to two million of them.
    keys = ordered[:, 0]
    for column in ordered.T[1:]:
        keys = keys * base + column
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return ordered[first], inverse.ravel(), counts


def neighbours_of(triangles: Ints, count: int) -> tuple[Ints, Ints]:
    """Return which of `count` vertices share an edge of triangles (T, 3), none with itself.

    Returns
    -------
    starts : (count + 1,) int32, where the neighbours of each vertex begin
    neighbours : (starts[-1],) int32, ascending for each vertex
    """
    ends = edges_of(triangles).ends
    ends = ends[ends[:, 0] != ends[:, 1]]
    here, there = np.concatenate([ends, ends[:, ::-1]]).T
    order = np.lexsort((there, here))
    return _starts(here, count), there[order].astype(np.int32)


def triangles_around(triangles: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the triangles at each of `count` vertices.

    Returns
    -------
    starts : (count + 1,) int32, where the triangles of each vertex begin
    around : (3 T,) int32, ascending for each vertex
    """
    corners = triangles.ravel()
    around = np.argsort(corners, kind="stable") // 3
    return _starts(corners, count), around.astype(np.int32)


def _starts(vertices: Ints, count: int) -> Ints:
    starts = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(vertices, minlength=count), out=starts[1:])
    return starts
