"""What is summed for the normal of each fine vertex: areas of coarse triangles, and what patches add in their slots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Ints
from posespace.runtime.compiled import Ints32, Ints64
from posespace.runtime.cpu.lanes import LANES

_MOST = 256
"""Most rows that the vertices of one normal list all together; where there are more, they are summed once, at a hub."""


class Fans(NamedTuple):
    """Rows that are summed for each vertex, in lanes.

    Parameters
    ----------
    starts, rows : (V + 1,) and (E, 8) int32, where the rows of a block of vertices begin, and these; `none` where a
        vertex has fewer, and after it one row for each hub
    hub_starts, hubs : (H + 1,) and (E,) int32, the rows that are summed at each hub; the hubs are in the order of the
        last triangle that they need
    none : how many rows there are
    """

    starts: Ints32
    rows: Ints32
    hub_starts: Ints32
    hubs: Ints32
    none: int


def fans_of(groups: Ints, vertices: Ints32, pattern: Ints32) -> tuple[Fans, Fans]:
    """Return the coarse triangles around each vertex, by the area that they have there, and the slots that it has.

    Parameters
    ----------
    groups : (F,) the vertices that share a normal have one number
    vertices : (T, P) of the patches
    pattern : (4**levels, 3) slots of their triangles
    """
    triangles, slots = vertices.shape
    owner = groups[vertices.ravel()]
    by_group = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=int(groups.max(initial=-1)) + 1)
    triangle, slot = np.divmod(by_group, slots)
    places = (triangle // LANES * slots + slot) * LANES + triangle % LANES
    blocks = -(-triangles // LANES)
    hubs = _hubs(groups, counts, triangle)
    sums = _listed(counts, places, groups, hubs, blocks * slots * LANES)
    # A coarse triangle counts by how many fine ones are there; where all count alike, as nearly everywhere, once.
    areas = np.bincount(pattern.ravel(), minlength=slots)[slot]
    group = owner[by_group]
    uneven = np.zeros(len(counts), np.bool_)
    uneven[group[1:][(group[1:] == group[:-1]) & (areas[1:] != areas[:-1])]] = True
    times = np.where(uneven[group], areas, 1)
    counts = np.bincount(group, times, minlength=len(counts)).astype(np.int64)
    return _listed(counts, np.repeat(triangle, times), groups, hubs, blocks * LANES), sums


def _hubs(groups: Ints, counts: Ints64, triangle: Ints64) -> NDArray[np.intp]:
    """The groups that are hubs, in the order of the last triangle that they need.

    Parameters
    ----------
    groups : (F,) of each vertex
    counts, triangle : (G,) how many slots each group has, and the triangles of these, one group after the other
    """
    members = np.bincount(groups, minlength=len(counts))
    hubs = np.flatnonzero((members > 1) & (members * counts > _MOST))
    return hubs[np.argsort(triangle[np.cumsum(counts)[hubs] - 1], kind="stable")]


def _listed(counts: Ints64, places: Ints64, groups: Ints, hubs: NDArray[np.intp], none: int) -> Fans:
    """The rows of each vertex in lanes.

    Parameters
    ----------
    counts : (G,) how many each group has
    places : (sum of counts,) of the groups, one after the other
    groups : (F,) of each vertex
    hubs : (H,) the groups that are hubs
    none : how many rows there are
    """
    firsts = np.cumsum(counts) - counts
    hub_rows, hub_starts = places[_ranges(firsts[hubs], counts[hubs])], np.cumsum([0, *counts[hubs]])
    # All vertices of a hub list one row, which is that of the hub.
    firsts[hubs] = len(places) + np.arange(len(hubs))
    places = np.concatenate([places, none + 1 + np.arange(len(hubs))])
    counts = counts.copy()
    counts[hubs] = 1
    lanes = np.concatenate([groups, np.repeat(groups[-1:], -len(groups) % LANES)])
    lengths = counts[lanes]
    most = lengths.reshape(-1, LANES).max(axis=1)
    starts = np.concatenate([[0], np.cumsum(most)])
    table = np.full((starts[-1], LANES), none, np.int32)
    vertex = np.repeat(np.arange(len(lanes)), lengths)
    rank = _ranges(np.zeros(len(lanes), np.int64), lengths)
    table[starts[vertex // LANES] + rank, vertex % LANES] = places[firsts[lanes[vertex]] + rank]
    return Fans(starts.astype(np.int32), table, hub_starts.astype(np.int32), hub_rows.astype(np.int32), none)


def _ranges(firsts: Ints64, lengths: Ints64) -> Ints64:
    """The whole numbers from each of `firsts` on, as many as each of `lengths`, one range after the other."""
    begins = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(firsts - begins, lengths))
