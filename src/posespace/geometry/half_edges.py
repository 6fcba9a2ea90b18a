"""Vertices of two surfaces with the same faces matched by walking over both at once.

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
"""Half-edges of a part that the walk is started from, to check that all give the same match."""

_TRIES = 24
"""Half-edges of the other surface that each of them is tried with, nearest first."""

_ROUNDS = 24
"""How many steps around a half-edge its surroundings reach."""

_BESIDE = 4
"""Matched vertices that predict the position of a vertex near them."""

_SIMILAR = 1.5
"""Two matches of a part whose distances differ by less than this factor cannot be told apart."""


_CERTAIN = 0.4
"""A vertex without a face is matched to the nearest one if the second is farther by more than this factor's inverse."""

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
    opposite = np.searchsorted(keys, back, side="right", sorter=order) - left
    equal = np.searchsorted(keys, keys, side="right", sorter=order) - np.searchsorted(keys, keys, sorter=order)
    paired = (opposite == 1) & (equal == 1) & (start != end)
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
    search = _Search(ours, np.asarray(points, np.float64), theirs, np.asarray(others, np.float64))
    if not search.is_similar:
        return None
    parts = np.split(np.argsort(ours.parts, kind="stable"), np.cumsum(np.bincount(ours.parts))[:-1])
    image = None if len(parts) > _MOST_PARTS else search.images(parts)
    return None if image is None else search.vertices(image)


class _Search:
    """Finds the images of connected parts: certain ones first, then those beside them."""

    def __init__(self, ours: HalfEdges, points: Floats, theirs: HalfEdges, others: Floats) -> None:
        self.ours, self.points, self.theirs, self.others = ours, points, theirs, others
        self._expected = points
        self._colour, colours = _colours(ours), _colours(theirs)
        self._order = np.argsort(colours, kind="stable")
        self._sorted = colours[self._order]
        self.is_similar = np.array_equal(np.sort(self._colour), self._sorted)
        self._image, self._back = np.full(len(ours.start), -1), np.full(len(theirs.start), -1)
        self._taken = np.zeros(int(theirs.parts.max(initial=-1)) + 1, dtype=bool)

    def images(self, parts: list[Indices]) -> Indices | None:
        """Return the image (H,) of every half-edge, or None; `parts` has the half-edges of each part."""
        image, left, certain = np.full(len(self.ours.start), -1), parts, True
        while left:
            waiting = []
            for rows in left:
                match = self._part(rows, certain)
                if match is None:
                    waiting.append(rows)
                else:
                    image[rows] = match
                    self._taken[self.theirs.parts[match[0]]] = True
            if len(waiting) == len(left) and not certain:
                return None
            left, certain = waiting, False
            self._expect(image)
        return image

    def vertices(self, image: Indices) -> Indices | None:
        """Return the vertices (V,) that the images (H,) of all half-edges begin at, or None where they disagree."""
        matches = np.full(len(self.points), -1)
        matches[self.ours.start] = self.theirs.start[image]
        if (matches[self.ours.start] != self.theirs.start[image]).any():
            return None
        loose = np.flatnonzero(matches < 0)
        if len(loose):
            # A vertex without a face has only its position.
            nearest, gaps = _two_nearest(self.points[loose], self.others)
            if (gaps > _CERTAIN).any():
                return None
            matches[loose] = nearest
        return matches if len(np.unique(matches)) == len(matches) else None

    def _part(self, rows: Indices, certain: bool) -> Indices | None:
        """Return the image of the half-edges `rows` of a part, or None; where `certain`, only if there is but one."""
        matches = self._matches(rows)
        if len(matches) < 2:
            return matches[0] if matches else None
        expected = self._expected[self.ours.start[rows]]
        moved = [self.others[self.theirs.start[match]] - expected for match in matches]
        gap = np.array([np.linalg.norm(offsets) for offsets in moved])
        best = int(np.argmin(gap))
        target = self.theirs.parts[matches[best][0]]
        # A part may be moved as a whole: among matches with one part, the common motion does not count.
        same = np.array([self.theirs.parts[match[0]] == target for match in matches])
        centred = np.array([np.linalg.norm(offsets - offsets.mean(axis=0)) for offsets in moved])
        best = int(np.argmin(np.where(same, centred, np.inf)))
        worse = np.where(same, centred >= _SIMILAR * centred[best], gap >= _SIMILAR * gap[same].min())
        worse[best] = True
        return matches[best] if worse.all() and not certain else None

    def _matches(self, rows: Indices) -> list[Indices]:
        """Return each image of a part's half-edges that the walk does not contradict."""
        low, high = (np.searchsorted(self._sorted, self._colour[rows], side=side) for side in ("left", "right"))
        matches: list[Indices] = []
        for seed in np.argsort(high - low, kind="stable")[:_SEEDS]:
            for image in self._from(int(rows[seed]), self._order[low[seed] : high[seed]], rows):
                if not any(np.array_equal(image, match) for match in matches):
                    matches.append(image)
        return matches

    def _from(self, seed: int, similar: Indices, rows: Indices) -> Iterator[Indices]:
        """Yield each image of a part's half-edges that the walk does not contradict, those near the seed first."""
        similar = similar[~self._taken[self.theirs.parts[similar]]]
        if len(similar) > _TRIES:
            ends = ((self.ours.start, self.theirs.start), (self.ours.end, self.theirs.end))
            gaps = sum(
                ((self.others[there[similar]] - self._expected[here[seed]]) ** 2).sum(axis=1) for here, there in ends
            )
            similar = similar[np.argsort(gaps, kind="stable")[:_TRIES]]
        for other in similar:
            if _walk(self.ours, self.theirs, seed, int(other), len(rows), self._image, self._back):
                image = self._image[rows]
                self._image[rows], self._back[image] = -1, -1
                yield image

    def _expect(self, image: Indices) -> None:
        """Move where vertices are expected as the matched ones near them were moved: small parts follow the body."""
        known = np.flatnonzero(image >= 0)
        if not len(known):
            return
        vertices, first = np.unique(self.ours.start[known], return_index=True)
        moved = self.others[self.theirs.start[image[known[first]]]] - self.points[vertices]
        _, near = KDTree(self.points[vertices]).query(self.points, k=min(_BESIDE, len(vertices)))
        self._expected = self.points + moved[np.reshape(near, (len(self.points), -1))].mean(axis=1)


def _colours(edges: HalfEdges) -> NDArray[np.uint64]:
    """Return a number (H,) per half-edge that is equal for two whose surroundings have the same faces.

    Each round mixes in the numbers of the next half-edge and of the twin: few half-edges of a character have the number
    of another, so that faces alone say which is which, however far a sculpt has moved them.
    """
    odd = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    colour: NDArray[np.uint64] = (edges.kind.astype(np.uint64) * odd).sum(axis=1, dtype=np.uint64)
    for _ in range(_ROUNDS):
        # The last one stands for the twin at a border, whose number is -1.
        border = np.append(colour, np.uint64(1))
        colour = (
            (colour ^ (colour >> np.uint64(29))) * odd[0] + colour[edges.after] * odd[1] + border[edges.twin] * odd[2]
        )
        colour ^= colour >> np.uint64(32)
    return colour


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
        for step in range(2):
            next_here = ours.after[here] if step == 0 else ours.twin[here]
            next_there = theirs.after[there] if step == 0 else theirs.twin[there]
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
