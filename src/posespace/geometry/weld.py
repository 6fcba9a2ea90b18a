"""Weld: groups of vertices that share a position, because a file splits vertices at seams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints

_ROUNDS = 16
"""How many kinds of values the vertices of one group may have; further ones stay alone."""


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

    @classmethod
    def of(cls, labels: NDArray[np.integer]) -> Weld:
        """Group the vertices that have the same label, `labels` (N,)."""
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return cls(np.argsort(order)[inverse.ravel()].astype(np.int32), first[order].astype(np.int32))

    def split_unlike(self, values: Floats, tolerance: float) -> Weld:
        """Return the groups, each split where its vertices differ in `values` (N, K) by more than a tolerance."""
        leader = self.first[self.groups].astype(np.int64)
        for _ in range(_ROUNDS):
            unlike = np.flatnonzero((np.abs(values - values[leader]) > tolerance).any(axis=1))
            if not len(unlike):
                return Weld.of(leader)
            _, first, inverse = np.unique(leader[unlike], return_index=True, return_inverse=True)
            leader[unlike] = unlike[first][inverse]
        unlike = np.flatnonzero((np.abs(values - values[leader]) > tolerance).any(axis=1))
        leader[unlike] = unlike
        return Weld.of(leader)

    def without_collapse(self, triangles: Ints) -> Weld:
        """Return the groups without those that hold two corners of one triangle: such vertices stay alone."""
        corners = self.groups[triangles]
        collapsed = corners[corners == np.roll(corners, 1, axis=1)]
        if not len(collapsed):
            return self
        alone = np.isin(self.groups, collapsed)
        return Weld.of(np.where(alone, np.arange(len(self.groups)), self.first[self.groups]))

    def gather(self, values: NDArray[np.floating]) -> Floats:
        """Return (G, ...) means over each group of per-vertex `values` (N, ...)."""
        flat = np.asarray(values, dtype=np.float64).reshape(len(self.groups), -1)
        count = np.bincount(self.groups, minlength=len(self.first))
        sums = np.stack([np.bincount(self.groups, column, minlength=len(self.first)) for column in flat.T], axis=1)
        mean: Floats = (sums / count[:, None]).reshape((len(self.first), *values.shape[1:]))
        return mean

    def average(self, values: NDArray[np.floating]) -> None:
        """Replace per-vertex `values` (N, ...) by the mean over each group, in place."""
        if len(self.first) < len(self.groups):
            values[...] = self.scatter(self.gather(values))

    def scatter(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return (N, ...) per-vertex values from `values` (G, ...) of the groups."""
        spread: NDArray[np.floating] = values[self.groups]
        return spread


def weld_points(points: Floats) -> Weld:
    """Group the vertices of `points` (N, 3) that share a position exactly."""
    if not len(points):
        return Weld(np.zeros(0, np.int32), np.zeros(0, np.int32))
    # Adding zero makes -0.0 into 0.0, so that the two compare as equal bytes too.
    _, inverse = np.unique(points + 0.0, axis=0, return_inverse=True)
    return Weld.of(inverse.ravel())
