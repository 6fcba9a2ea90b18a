"""Detail, the third stage of any player: the posed surface subdivided and moved along its normals, on the processor."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.geometry.subdivision import levels_of
from posespace.layer import Detail
from posespace.runtime.compiled import Ints32, compiled, on_all_cores, relaxed
from posespace.runtime.entries import owned
from posespace.runtime.surface_normals import SurfaceNormals
from posespace.skin import Skin

_TILE = 512
"""Vertices whose heights are summed while the cache holds them."""


class PosedDetail:
    """The detail of a skin.

    Parameters
    ----------
    skin : the skin, whose rig's mesh is subdivided
    detail : its detail
    first : where the detail's coordinates begin among all
    threads : how many cores work on a frame

    Attributes
    ----------
    nbytes : bytes that a frame reads and writes
    """

    def __init__(self, skin: Skin, detail: Detail, first: int, threads: int) -> None:
        levels = levels_of(skin.rig.mesh.triangles, len(skin.rig.mesh.points), detail.levels)
        counts = len(skin.rig.mesh.points) + np.cumsum([0, *(len(level.edges) for level in levels)])
        self._ends = [owned("edges", level.edges, int(count)) for level, count in zip(levels, counts[:-1], strict=True)]
        self._normals = SurfaceNormals(skin.mesh, threads)
        packed = detail.heights.dtype.kind == "i"
        self._heights = np.ascontiguousarray(detail.heights if packed else detail.heights.astype(np.float32))
        self._scales = np.ones(len(self._heights)) if detail.scales is None else detail.scales.astype(np.float64)
        self._own = slice(first, first + detail.driver.components)
        self._fine = np.empty((len(skin.mesh.points), 3), np.float32)
        self._use(threads)
        ends = sum(each.nbytes for each in self._ends)
        self.nbytes = 3 * self._fine.nbytes + self._heights.nbytes + 2 * self._normals.nbytes + ends

    def _use(self, threads: int) -> None:
        self._threads = threads
        self._refine, self._raise = (_refine_all, _raise_all) if threads > 1 else (_refine_alone, _raise_alone)

    def clone(self) -> PosedDetail:
        """Return the same with room of its own to work in, for another thread."""
        other = copy(self)
        other._normals = self._normals.clone()
        other._fine = np.empty_like(self._fine)
        return other

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._use(1)
        self._normals.on_one_core()

    def add(self, coarse: Floats32, coordinates: Floats, points: Floats32, normals: Floats32 | None) -> None:
        """Write the fine points, and their normals if asked for, from the coarse points and all coordinates."""
        fine, count = self._fine, len(coarse)
        fine[:count] = coarse
        for ends in self._ends:
            self._refine(self._threads, ends, fine, count)
            count += len(ends)
        along = np.empty_like(points) if normals is None else normals
        self._normals.write(fine, along)
        shares = (coordinates[self._own] * self._scales).astype(np.float32)
        self._raise(self._threads, fine, along, self._heights, shares, points)
        if normals is not None:
            self._normals.write(points, normals)


def _refine(parts: int, ends: Ints32, fine: Floats32, count: int) -> None:  # pragma: no cover - compiled
    """Write the middles of edges after the first `count` points."""
    half = np.float32(0.5)
    for part in prange(parts):
        for edge in range(part * len(ends) // parts, (part + 1) * len(ends) // parts):
            a, b = ends[edge, 0], ends[edge, 1]
            for k in range(3):
                fine[count + edge, k] = half * (fine[a, k] + fine[b, k])


@relaxed
def _raise_tile(
    first: int,
    last: int,
    fine: Floats32,
    along: Floats32,
    heights: NDArray[Any],
    shares: Floats32,
    sums: Floats32,
    out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write some points moved along their normals; `sums` is room for their heights."""
    count = last - first
    sums[:count] = np.float32(0.0)
    for component in range(len(heights)):
        share, row = shares[component], heights[component, first:last]
        for k in range(count):
            sums[k] += share * np.float32(row[k])
    for k in range(count):
        for axis in range(3):
            out[first + k, axis] = fine[first + k, axis] + sums[k] * along[first + k, axis]


def _raise(
    parts: int, fine: Floats32, along: Floats32, heights: NDArray[Any], shares: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write points (F, 3) moved along normals (F, 3) by the shares (C,) of heights (C, F)."""
    total = len(fine)
    for part in prange(parts):
        sums = np.empty(_TILE, np.float32)
        first, end = part * total // parts, (part + 1) * total // parts
        while first < end:
            last = min(first + _TILE, end)
            _raise_tile(first, last, fine, along, heights, shares, sums, out)
            first = last


_refine_all, _refine_alone = on_all_cores(_refine), compiled(_refine)
_raise_all, _raise_alone = on_all_cores(_raise), compiled(_raise)
