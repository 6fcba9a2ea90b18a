"""A thin plate over a pose space with a linear tail, exact at rest, fitted to many samples by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posespace.check import Floats
from posespace.geometry.spread import spread
from posespace.interpolate.distances import distances
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernels import KERNELS

_FLAT = 1e-6


@dataclass(frozen=True, eq=False)
class ThinPlate:
    """The plate's centres.

    Parameters
    ----------
    centres : (M, D) places of a pose space, of straight distance; the first is the rest pose
    """

    centres: Floats

    @classmethod
    def spread(cls, where: Floats, rest: Floats, most: int) -> ThinPlate:
        """Take up to `most` of the places (P, D) as centres, each the farthest from those before, after rest (D,).

        0: all of them, but for those that coincide.
        """
        gaps = np.linalg.norm(where - rest, axis=1)
        least = 1e-6 * float(gaps.max(initial=0.0))
        chosen = spread(gaps, lambda k: np.linalg.norm(where - where[k], axis=1), most or len(where), least)
        return cls(np.vstack([rest[None], where[chosen]]))

    @cached_property
    def _radius(self) -> float:
        return float(distances(self.centres, self.centres).max()) or 1.0

    def _kernels(self, where: Floats) -> Floats:
        return KERNELS["thin_plate"].value(distances(where, self.centres, radius=self._radius))

    @cached_property
    def _free(self) -> Floats:
        """(M, F) a basis of the weights that leave linear functions to the tail: only they have a bending energy."""
        tail = np.column_stack([np.ones(len(self.centres)), self.centres - self.centres[0]])
        u, sizes, _ = np.linalg.svd(tail)
        return np.asarray(u[:, int((sizes > _FLAT * sizes[0]).sum()) :])

    @cached_property
    def _bending(self) -> Floats:
        """(F, F) a root of the energy of the free weights."""
        values, vectors = np.linalg.eigh(self._free.T @ self._kernels(self.centres) @ self._free)
        return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)

    def fit(self, where: Floats, values: Floats, smoothing: float, at_rest: Floats | None = None) -> RBFInterpolant:
        """Return the plate nearest to `values` (P, C) at the places `where` (P, D), by a singular value decomposition.

        Joints turn about few axes, so quaternions do not span their space: of the tails that fit equally well, the
        smallest is taken.

        Parameters
        ----------
        smoothing : at least 0, what bending costs relative to the squared errors
        at_rest : (C,) the values at rest, reproduced exactly; None: zero
        """
        held = np.zeros(values.shape[1]) if at_rest is None else at_rest
        rest, free = self.centres[0], self._free
        still = self._kernels(rest[None])
        columns = np.hstack([(self._kernels(where) - still) @ free, where - rest])
        bending = np.zeros((free.shape[1], columns.shape[1]))
        bending[:, : free.shape[1]] = np.sqrt(smoothing) * self._bending
        target = np.vstack([values - held, np.zeros((len(bending), values.shape[1]))])
        found = np.linalg.lstsq(np.vstack([columns, bending]), target, rcond=1e-12)[0]
        weights = free @ found[: free.shape[1]]
        # The constant cancels what the kernels give at rest.
        weights = np.vstack([weights, held - still @ weights, found[free.shape[1] :]])
        centres = np.asarray(self.centres, dtype=np.float64)
        radius = np.full(centres.shape[1], self._radius)
        return RBFInterpolant("thin_plate", "euclidean", "linear", radius, centres, weights)
