"""Two surfaces with the same faces, their vertices in another order: found by walking over both at once.

On a surface whose edges join two faces at most, one pair of edges that belong together decides all others that can be
reached from it, so the walk either comes through, and is right, or meets a contradiction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from posespace.check import Floats
from posespace.jit import njit

Indices = NDArray[np.int64]

_SEEDS = 6
"""Half-edges of a part that the walk is begun from, to see whether they all find the same."""

_TRIES = 24
"""Half-edges of the other surface that each of them is tried with, nearest first."""

_ALIKE = 1.5
"""Two ways to match a part whose distances differ by less than this factor cannot be told apart."""


_CERTAIN = 0.4
"""A vertex without a face is where its place is if the nearest one is closer than the second by this factor."""

_MOST_PARTS = 5_000
"""Parts that are not connected are each walked over; a surface of more is not."""


class HalfEdges(NamedTuple):
    """The half-edges of polygons: each polygon has one per corner, from that corner to the next.

    Parameters
    ----------
    start, end : (H,) the vertices it joins
    after : (H,) the next half-edge of its polygon
    twin : (H,) the half-edge back, of the neighbouring polygon; -1 at a border, or where more than two faces meet
    parts : (H,) the number of the connected part that it is in
    kind : (H, 3) corners of its polygon, and half-edges that leave its start and its end: equal where two may match
    """

    start: Indices
    end: Indices
    after: Indices
    twin: Indices
    parts: Indices
    kind: Indices


def half_edges(corners: Indices, sizes: Indices, count: int) -> HalfEdges:
    """Return the half-edges of polygons: `corners` (sum of sizes,) of `count` vertices, and `sizes` (F,)."""
    start, numbers = corners.astype(np.int64), np.arange(len(corners))
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes).astype(np.int64)
    after = first + (numbers - first + 1) % np.maximum(size, 1)
    end = start[after]
    keys, back = start * count + end, end * count + start
    order = np.argsort(keys, kind="stable")
    left = np.searchsorted(keys, back, side="left", sorter=order)
    found = np.searchsorted(keys, back, side="right", sorter=order) - left
    own = np.searchsorted(keys, keys, side="right", sorter=order) - np.searchsorted(keys, keys, sorter=order)
    paired = (found == 1) & (own == 1) & (start != end)
    twin = np.where(paired, order[np.minimum(left, len(order) - 1)] if len(order) else left, -1)
    links = np.concatenate([np.stack([numbers, after]), np.stack([numbers, twin])[:, paired]], axis=1)
    graph = coo_array((np.ones(links.shape[1], np.int8), (links[0], links[1])), shape=(len(start), len(start)))
    parts = connected_components(graph, directed=False)[1] if len(start) else numbers
    leaving = np.bincount(start, minlength=count)
    kind = np.stack([size, leaving[start], leaving[end]], axis=1)
    return HalfEdges(start, end, after, twin, parts.astype(np.int64), kind)


def match_by_faces(ours: HalfEdges, points: Floats, theirs: HalfEdges, others: Floats) -> Indices | None:
    """Return for each vertex the one it is on another surface with the same faces, or None where that is not certain.

    Parameters
    ----------
    ours, points : the faces, and (V, 3) where the vertices are
    theirs, others : the other surface, with (V, 3) points of about the same shape, which decide where faces do not

    Returns
    -------
    vertices : (V,) numbers of the other surface's vertices, each once
    """
    if len(points) != len(others) or len(ours.start) != len(theirs.start) or not len(ours.start):
        return None
    if not np.array_equal(_sorted_rows(ours.kind), _sorted_rows(theirs.kind)):
        return None
    parts = np.split(np.argsort(ours.parts, kind="stable"), np.cumsum(np.bincount(ours.parts))[:-1])
    if len(parts) > _MOST_PARTS:
        return None
    search = _Search(ours, np.asarray(points, np.float64), theirs, np.asarray(others, np.float64))
    image = np.full(len(ours.start), -1)
    for rows in parts:
        found = search.part(rows)
        if found is None:
            return None
        image[rows] = found
    return search.vertices(image)


class _Search:
    """Finds the image of one connected part at a time."""

    def __init__(self, ours: HalfEdges, points: Floats, theirs: HalfEdges, others: Floats) -> None:
        self.ours, self.points, self.theirs, self.others = ours, points, theirs, others
        # Six numbers place a half-edge: where it begins and where it ends.
        self.places = np.concatenate([points[ours.start], points[ours.end]], axis=1)
        self.tree = KDTree(np.concatenate([others[theirs.start], others[theirs.end]], axis=1))
        self.nearest, self.gaps = _two_nearest(points, others)
        self._image, self._back = np.full(len(ours.start), -1), np.full(len(theirs.start), -1)

    def part(self, rows: Indices) -> Indices | None:
        """Return the image of the half-edges `rows` of a part, or None."""
        doubt = np.maximum(self.gaps[self.ours.start[rows]], self.gaps[self.ours.end[rows]])
        seeds = rows[np.argsort(doubt, kind="stable")[:_SEEDS]]
        ways: list[Indices] = []
        for seed in seeds:
            for found in self._from(int(seed), rows):
                if not any(np.array_equal(found, way) for way in ways):
                    ways.append(found)
        if not ways:
            return None
        gap = [np.linalg.norm(self.others[self.theirs.start[way]] - self.points[self.ours.start[rows]]) for way in ways]
        best = int(np.argmin(gap))
        rivals = [value for k, value in enumerate(gap) if k != best]
        return None if rivals and min(rivals) < _ALIKE * gap[best] else ways[best]

    def vertices(self, image: Indices) -> Indices | None:
        """Return the vertices (V,) that the images (H,) of all half-edges begin at, or None where they disagree."""
        found = np.full(len(self.points), -1)
        found[self.ours.start] = self.theirs.start[image]
        if (found[self.ours.start] != self.theirs.start[image]).any():
            return None
        loose = np.flatnonzero(found < 0)
        # A vertex without a face has only its place to go by.
        if (self.gaps[loose] > _CERTAIN).any():
            return None
        found[loose] = self.nearest[loose]
        return found if len(np.unique(found)) == len(found) else None

    def _from(self, seed: int, rows: Indices) -> Iterator[Indices]:
        """Yield each image of a part's half-edges with which the walk comes through, those near the seed first."""
        near = np.atleast_1d(self.tree.query(self.places[seed], k=min(4 * _TRIES, len(self.places)))[1])
        alike = near[(self.theirs.kind[near] == self.ours.kind[seed]).all(axis=1)][:_TRIES]
        for other in alike:
            if _walk(self.ours, self.theirs, seed, int(other), len(rows), self._image, self._back):
                found = self._image[rows]
                self._image[rows], self._back[found] = -1, -1
                yield found


@njit()
def _walk(
    ours: HalfEdges, theirs: HalfEdges, seed: int, other: int, size: int, image: Indices, back: Indices
) -> bool:  # pragma: no cover - compiled
    """Give the `size` half-edges that are connected with `seed` their image (H,); return whether nothing contradicts.

    `back` (H,) is the inverse. Both are -1 before, and again where there is a contradiction.
    """
    stack = np.empty(size, np.int64)
    image[seed], back[other], stack[0] = other, seed, seed
    reached, done, good = 1, 0, True
    while good and done < reached:
        here = stack[done]
        there = image[here]
        done += 1
        for corner in range(3):
            good = good and ours.kind[here, corner] == theirs.kind[there, corner]
        for way in range(2):
            next_here = ours.after[here] if way == 0 else ours.twin[here]
            next_there = theirs.after[there] if way == 0 else theirs.twin[there]
            if next_here < 0 or next_there < 0:
                good = good and next_here == next_there
            elif image[next_here] < 0 and back[next_there] < 0 and reached < size:
                image[next_here], back[next_there], stack[reached] = next_there, next_here, next_here
                reached += 1
            else:
                good = good and image[next_here] == next_there
    good = good and reached == size
    if not good:
        for k in range(reached):
            back[image[stack[k]]] = -1
            image[stack[k]] = -1
    return good


def _two_nearest(points: Floats, others: Floats) -> tuple[Indices, Floats]:
    """Return the nearest of `others` for each point (V,), and its distance as a fraction of the second nearest's."""
    if len(others) < 2:
        return np.zeros(len(points), np.int64), np.zeros(len(points))
    distance, nearest = map(np.asarray, KDTree(others).query(points, k=2))
    return nearest[:, 0], distance[:, 0] / np.maximum(distance[:, 1], 1e-300)


def _sorted_rows(rows: Indices) -> Indices:
    return rows[np.lexsort(rows.T)]
