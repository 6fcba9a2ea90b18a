"""Detail, the third stage of any player: the posed surface subdivided and moved along its normals, on the processor."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.geometry.local_order import local_order
from posespace.mesh import Mesh
from posespace.runtime.compiled import Ints32, compiled, on_all_cores, relaxed
from posespace.runtime.detail.surface_normals import SurfaceNormals, flat_fans_of
from posespace.runtime.entries import owned
from posespace.skin.detail import Detail
from posespace.skin.skin import Skin

_TILE = 512
"""Vertices whose heights are summed while the cache holds them."""


class PosedDetail:
    """The detail of a skin.

    Parameters
    ----------
    skin : the skin, whose rig's mesh is subdivided
    detail : its detail
    first : where the detail's coordinates begin among all; -1 where learned bones drive it
    threads : how many cores work on a frame

    Attributes
    ----------
    nbytes : bytes that a frame reads and writes
    """

    def __init__(self, skin: Skin, detail: Detail, first: int, threads: int) -> None:
        rest = skin.rig.mesh
        # All work is in an order in which neighbours are near each other; what is written last is in the skin's order.
        local = local_order(rest.triangles, len(rest.points), detail.levels)
        self._order = owned("order", local.order, len(skin.mesh.points))
        counts = len(rest.points) + np.cumsum([0, *(len(level.edges) for level in local.levels)])
        self._ends = [
            owned("edges", level.edges, int(count)) for level, count in zip(local.levels, counts[:-1], strict=True)
        ]
        coarse = owned("mesh triangles", local.triangles, len(rest.points))
        mesh = Mesh(skin.mesh.points[local.order], local.levels[-1].triangles if local.levels else coarse)
        self._normals = SurfaceNormals(mesh, threads)
        # Before it is raised, the subdivided surface is as flat as the coarse one.
        self._flat = SurfaceNormals(mesh, threads, flat_fans_of(mesh, coarse, detail.levels))
        packed = detail.heights.dtype.kind == "i"
        heights = detail.heights if packed else detail.heights.astype(np.float32)
        self._heights = np.ascontiguousarray(heights[:, local.order])
        self._heights_read = _as_stored(self._heights)
        self._scales = np.ones(len(self._heights)) if detail.scales is None else detail.scales.astype(np.float64)
        self._first = first
        # Where learned bones drive it: which move each vertex, how much, and their first amount of detail.
        self._spread: tuple[Ints32, Floats32, int] | None = None
        if detail.driver is None:
            assert skin.bones is not None
            bones, coarse_order = skin.bones, local.order[: len(rest.points)]
            influences = owned("bones' influences", bones.influences[coarse_order], len(bones))
            self._spread = influences, bones.weights[coarse_order].astype(np.float32), bones.correction_count
        self._make_room(len(mesh.points))
        self._use(threads)
        ends = sum(edges.nbytes for edges in self._ends)
        surface = 6 * self._fine.nbytes + self._normals.nbytes + self._flat.nbytes + ends
        self.nbytes = surface + 2 * self._shares.nbytes + self._heights.nbytes + 2 * self._order.nbytes

    def _make_room(self, vertices: int) -> None:
        self._fine, self._raised, self._along = (np.empty((vertices, 3), np.float32) for _ in range(3))
        self._shares = np.empty((vertices if self._spread else 0, len(self._heights)), np.float32)

    def _use(self, threads: int) -> None:
        self._threads = threads
        self._refine, self._raise = (_refine_all, _raise_all) if threads > 1 else (_refine_alone, _raise_alone)
        self._share, self._put = (_spread_all, _put_all) if threads > 1 else (_spread_alone, _put_alone)

    def clone(self) -> PosedDetail:
        """Return the same with its own room to work in, for another thread."""
        other = copy(self)
        other._normals, other._flat = self._normals.clone(), self._flat.clone()
        other._make_room(len(self._fine))
        return other

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._use(1)
        self._normals.on_one_core()
        self._flat.on_one_core()

    def add(
        self,
        coarse: Floats32,
        coordinates: Floats,
        points: Floats32,
        normals: Floats32 | None,
        amounts: Floats32 | None = None,
    ) -> None:
        """Write the fine points, and their normals if asked for, from the coarse points and all coordinates.

        Detail that learned bones drive takes their `amounts` (B, K + D) instead of coordinates.
        """
        fine, shares, count = self._fine, self._shares, len(coarse)
        np.take(coarse, self._order[:count], axis=0, out=fine[:count])
        if self._spread is not None:
            assert amounts is not None
            self._share(self._threads, *self._spread, amounts, shares)
        for ends in self._ends:
            self._refine(self._threads, ends, fine, count)
            if self._spread is not None:
                self._refine(self._threads, ends, shares, count)
            count += len(ends)
        self._flat.write(fine, self._along)
        factors = self._scales.astype(np.float32)
        if self._spread is None:
            factors = (coordinates[self._first : self._first + len(factors)] * self._scales).astype(np.float32)
        self._raise(self._threads, fine, self._along, self._heights_read, factors, shares, self._raised)
        self._put(self._threads, self._order, self._raised, points)
        if normals is not None:
            self._normals.write(self._raised, self._along)
            self._put(self._threads, self._order, self._along, normals)


def _refine(parts: int, ends: Ints32, fine: Floats32, count: int) -> None:  # pragma: no cover - compiled
    """Write the middles of edges after the first `count` rows (F, A)."""
    half = np.float32(0.5)
    for part in prange(parts):
        for edge in range(part * len(ends) // parts, (part + 1) * len(ends) // parts):
            a, b = ends[edge, 0], ends[edge, 1]
            for k in range(fine.shape[1]):
                fine[count + edge, k] = half * (fine[a, k] + fine[b, k])


def _put(parts: int, order: Ints32, values: Floats32, out: Floats32) -> None:  # pragma: no cover - compiled
    """Write values (F, 3) to the rows that the order (F,) names."""
    count = len(order)
    for part in prange(parts):
        for row in range(part * count // parts, (part + 1) * count // parts):
            for axis in range(3):
                out[order[row], axis] = values[row, axis]


@relaxed
def _spread_some(
    begin: int, end: int, influences: Ints32, weights: Floats32, first: int, amounts: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the weighted amounts (N, D) of some vertices' bones, from the column `first` on."""
    for vertex in range(begin, end):
        for k in range(out.shape[1]):
            out[vertex, k] = np.float32(0.0)
        for slot in range(weights.shape[1]):
            weight, bone = weights[vertex, slot], influences[vertex, slot]
            for k in range(out.shape[1]):
                out[vertex, k] += weight * amounts[bone, first + k]


def _spread(
    parts: int, influences: Ints32, weights: Floats32, first: int, amounts: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the weighted amounts of all vertices' bones."""
    count = len(weights)
    for part in prange(parts):
        begin, end = part * count // parts, (part + 1) * count // parts
        _spread_some(begin, end, influences, weights, first, amounts, out)


class Heights(NamedTuple):
    """Heights (C, F) in the type they are stored in; the other two are empty. So the loops are compiled once."""

    floats: Floats32
    shorts: NDArray[np.int16]
    bytes: NDArray[np.int8]


def _as_stored(heights: NDArray[Any]) -> Heights:
    kinds = (np.float32, np.int16, np.int8)
    return Heights(*(heights if heights.dtype == kind else np.zeros((0, 0), kind) for kind in kinds))


@relaxed
def _add_heights(
    first: int, heights: NDArray[Any], factors: Floats32, shares: Floats32, sums: Floats32
) -> None:  # pragma: no cover - compiled
    """Add the heights of vertices from `first` on, each component times its factor, and its shares if any."""
    for component in range(len(heights)):
        factor = factors[component]
        row = heights[component, first : first + len(sums)]
        if len(shares):
            for k in range(len(sums)):
                sums[k] += factor * shares[first + k, component] * np.float32(row[k])
        else:
            for k in range(len(sums)):
                sums[k] += factor * np.float32(row[k])


def _raise(
    parts: int, fine: Floats32, along: Floats32, heights: Heights, factors: Floats32, shares: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write points (F, 3) moved along normals (F, 3) by factors (C,) of heights (C, F), and shares (F, C) if any."""
    total = len(fine)
    for part in prange(parts):
        room = np.empty(_TILE, np.float32)
        first, end = part * total // parts, (part + 1) * total // parts
        while first < end:
            last = min(first + _TILE, end)
            sums = room[: last - first]
            sums[:] = np.float32(0.0)
            _add_heights(first, heights.floats, factors, shares, sums)
            _add_heights(first, heights.shorts, factors, shares, sums)
            _add_heights(first, heights.bytes, factors, shares, sums)
            for k in range(last - first):
                for axis in range(3):
                    out[first + k, axis] = fine[first + k, axis] + sums[k] * along[first + k, axis]
            first = last


_refine_all, _refine_alone = on_all_cores(_refine), compiled(_refine)
_raise_all, _raise_alone = on_all_cores(_raise), compiled(_raise)
_spread_all, _spread_alone = on_all_cores(_spread), compiled(_spread)
_put_all, _put_alone = on_all_cores(_put), compiled(_put)
