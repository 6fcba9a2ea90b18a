"""Vertices that share a position: a file that splits vertices at seams repeats them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints


@dataclass(frozen=True, eq=False)
class Weld:
    """Vertices grouped by position.

    Parameters
    ----------
    groups : (N,) int32, the group of each vertex; groups are numbered by their first vertex
    first : (G,) int32, the first vertex of each group
    """

    groups: Ints
    first: Ints

    def gather(self, values: NDArray[np.floating]) -> Floats:
        """Return (G, ...) means over each group of per-vertex `values` (N, ...)."""
        flat = np.asarray(values, dtype=np.float64).reshape(len(self.groups), -1)
        count = np.bincount(self.groups, minlength=len(self.first))
        sums = np.stack([np.bincount(self.groups, column, minlength=len(self.first)) for column in flat.T], axis=1)
        mean: Floats = (sums / count[:, None]).reshape((len(self.first), *values.shape[1:]))
        return mean

    def scatter(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return (N, ...) per-vertex values from `values` (G, ...) of the groups."""
        spread: NDArray[np.floating] = values[self.groups]
        return spread


def weld_points(points: Floats) -> Weld:
    """Group the vertices of `points` (N, 3) that share a position exactly."""
    if not len(points):
        return Weld(np.zeros(0, np.int32), np.zeros(0, np.int32))
    # Adding zero turns -0.0 into 0.0, so that the two compare as equal bytes too.
    _, first, inverse = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Weld(rank[inverse.ravel()], first[order].astype(np.int32))
