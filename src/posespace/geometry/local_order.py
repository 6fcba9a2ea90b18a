"""An order of a mesh's vertices in which neighbours lie close together in memory, subdivided or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from posespace.check import Ints
from posespace.geometry.edges import edges_of
from posespace.geometry.subdivision import Subdivision, levels_of


@dataclass(frozen=True, eq=False)
class LocalOrder:
    """A subdivided mesh whose vertices are reordered.

    Parameters
    ----------
    triangles : (T, 3) of the coarse vertices in the new order
    levels : its subdivisions
    order : (F,) the original number of each new fine vertex; the first are the coarse ones
    """

    triangles: Ints
    levels: tuple[Subdivision, ...]
    order: Ints


def local_order(triangles: Ints, vertices: int, count: int, groups: Ints | None = None) -> LocalOrder:
    """Return the order of a mesh of `vertices` vertices that is subdivided `count` times.

    Vertices of one group, `groups` (N,), count as neighbours too, such as those at the two sides of a seam.
    """
    ends = edges_of(triangles).ends
    if groups is not None:
        _, first, number = np.unique(groups, return_index=True, return_inverse=True)
        pairs = np.stack([first[number], np.arange(vertices)], axis=1)
        ends = np.concatenate([ends, pairs[pairs[:, 0] != pairs[:, 1]]])
    ones = np.ones(2 * len(ends), np.int8)
    both = np.concatenate([ends, ends[:, ::-1]])
    graph = csr_array((ones, (both[:, 0], both[:, 1])), shape=(vertices, vertices))
    order = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
    rank = np.empty(vertices, np.int64)
    rank[order] = np.arange(vertices)
    renamed = rank[triangles]
    reordered: Ints = renamed[np.argsort(renamed.min(axis=1), kind="stable")].astype(np.int32)
    levels = levels_of(reordered, vertices, count)
    for original, level in zip(levels_of(triangles, vertices, count), levels, strict=True):
        order = np.concatenate([order, len(order) + _edge_numbers(original.edges, np.sort(order[level.edges], axis=1))])
    return LocalOrder(reordered, levels, order.astype(np.int32))


def _edge_numbers(edges: Ints, wanted: NDArray[np.int64]) -> Ints:
    """The numbers of the wanted edges among edges (E, 2), which are sorted, each with its lower vertex first."""
    base = int(edges.max(initial=0)) + 1
    keys = edges[:, 0].astype(np.int64) * base + edges[:, 1]
    return np.searchsorted(keys, wanted[:, 0] * base + wanted[:, 1]).astype(np.int32)
