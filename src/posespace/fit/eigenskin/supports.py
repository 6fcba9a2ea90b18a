"""Supports: the vertices where components act. Their edges fade to zero, and they shrink to keep within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from posespace.check import Floats32
from posespace.geometry.edges import neighbours_of
from posespace.geometry.smoothstep import smoothstep
from posespace.mesh import Mesh

_SMOOTHINGS = 3
_ROWS = 16


class Limits(NamedTuple):
    """Limits on components and supports, as `EigenSkin` has them; None: no limit, or chosen."""

    components: int | None
    threshold: float | None
    taper: int
    budget: int | None
    size: float | None


class Neighbours:
    """Adjacent vertices of a mesh, for smoothing and fading over the surface; vertices at one position are one.

    Parameters
    ----------
    mesh : the rest shape
    """

    def __init__(self, mesh: Mesh) -> None:
        weld = mesh.weld
        count = len(weld.first)
        starts, ends = neighbours_of(weld.groups[mesh.triangles], count)
        edges = sp.csr_matrix((np.ones(len(ends), dtype=np.float32), ends, starts), shape=(count, count))
        degree = np.maximum(np.diff(starts), 1)
        self._groups, self._first = weld.groups, weld.first
        self._ring = sp.csr_matrix(edges + sp.identity(count, dtype=np.float32))
        self._mean = sp.csr_matrix(0.5 * sp.diags_array((1 / degree).astype(np.float32)) @ edges)

    def smoothed(self, values: Floats32) -> Floats32:
        """Return values (N,) or (R, N) averaged over neighbours a few times, so that supports have smooth outlines."""
        out = np.empty(values.shape, dtype=np.float32)
        for rows in _blocks(values):
            smooth = np.ascontiguousarray(values[rows][..., self._first].T)
            for _ in range(_SMOOTHINGS):
                smooth = 0.5 * smooth + self._mean @ smooth
            out[rows] = smooth.T[..., self._groups]
        return out

    def tapered(self, inside: NDArray[np.bool_], rings: int) -> Floats32:
        """Return masks (N,) or (R, N): 0 outside, rising smoothly to 1 over `rings` rings of vertices inside."""
        out = np.empty(inside.shape, dtype=np.float32)
        for rows in _blocks(inside):
            outside = np.ascontiguousarray(~inside[rows][..., self._first].T).astype(np.float32)
            depth = 1 - outside
            for _ in range(rings):
                outside = np.minimum(self._ring @ outside, 1)
                depth += 1 - outside
            t = depth / (rings + 1)
            out[rows] = smoothstep(t).T[..., self._groups]
        return out


def _blocks(rows: NDArray[Any]) -> list[slice | EllipsisType]:
    """A few rows at a time, to keep intermediate arrays small; a single row is taken as it is."""
    if rows.ndim == 1:
        return [...]
    return [slice(start, start + _ROWS) for start in range(0, len(rows), _ROWS)]


class Sizes(NamedTuple):
    """Sizes of R components, kept only at the W vertices where one is not zero: their indices (W,), values (R, W)."""

    vertices: NDArray[np.int64]
    values: Floats32

    @classmethod
    def of(cls, full: Floats32) -> Sizes:
        """Keep the vertices where some row of (R, N) is not zero."""
        vertices = np.flatnonzero(full.any(axis=0))
        return cls(vertices, full[:, vertices])

    @property
    def largest(self) -> float:
        """The largest size."""
        return float(self.values.max(initial=0.0))

    def above(self, level: Floats32) -> Floats32:
        """Return the sizes above a level (N,), as one row."""
        return self.values[self.values > (level[self.vertices] if level.size > 1 else level)]

    def inside(self, level: Floats32) -> NDArray[np.bool_]:
        """Return (R, N) where sizes are above a level (N,)."""
        inside = np.zeros((len(self.values), len(level)), dtype=bool)
        inside[:, self.vertices] = self.values > level[self.vertices]
        return inside


def crowded_out(sizes: Sequence[Sizes], vertices: int, budget: int) -> Floats32:
    """Return (N,) at each vertex the largest size that is dropped when the `budget` largest are kept."""
    largest = np.zeros((budget + 1, vertices), dtype=np.float32)
    for entries in sizes:
        both = np.concatenate([largest[:, entries.vertices], entries.values])
        largest[:, entries.vertices] = np.partition(both, len(entries.values) - 1, axis=0)[len(entries.values) :]
    return np.asarray(largest.min(axis=0))


def within_budget(sizes: Floats32, entries: Sequence[int], budget: int) -> Floats32:
    """Return (N,) the size at or below which entries are dropped, so that no vertex has more than `budget` of them.

    At each vertex the rows of `sizes` (R, N) are taken from the largest down, each with its number of `entries`; the
    first that does not fit sets the level. Sizes vary smoothly over the surface, so the level does too, and so do masks
    that fade above it.
    """
    order = np.argsort(-sizes, axis=0, kind="stable")
    ordered = np.take_along_axis(sizes, order, axis=0)
    over = np.cumsum(np.asarray(entries)[order] * (ordered > 0), axis=0) > budget
    level = np.take_along_axis(ordered, over.argmax(axis=0)[None], axis=0)[0]
    return np.asarray(np.where(over.any(axis=0), level, 0), dtype=np.float32)
