"""Height maps: the distance of a scan from the fitted template along its normals, on a subdivided surface."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve

from posespace.check import Floats, Ints
from posespace.geometry.edges import neighbours_of
from posespace.geometry.subdivision import levels_of
from posespace.mesh import Mesh
from posespace.register.scan import Target

_ROUNDS = 4
"""Rounds of the search along the normal: each starts from the height of the one before."""


class FineTemplate:
    """A template subdivided, as a skin with detail subdivides it.

    Parameters
    ----------
    mesh : the template
    levels : number of subdivisions
    """

    def __init__(self, mesh: Mesh, levels: int) -> None:
        self._levels = levels_of(mesh.triangles, len(mesh.points), levels)
        self.mesh = mesh
        if levels:
            self.mesh = Mesh(self.refined(mesh.points), self._levels[-1].triangles)

    def refined(self, points: Floats) -> Floats:
        """Return fine points (M, 3) of the template's points (N, 3)."""
        for level in self._levels:
            points = level.refine(points)
        return points

    def heights(self, points: Floats, scan: Target, reach: float) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the heights (M,) of a scan over the subdivided template, and which (M,) were seen.

        Where the scan has a hole or is farther than `reach`, heights are interpolated smoothly from those around.

        Parameters
        ----------
        points : (N, 3) the fitted template
        scan : with all its detail
        reach : the greatest height
        """
        fine = self.refined(points)
        normals = self.mesh.normals(fine)
        heights = np.zeros(len(fine))
        for _ in range(_ROUNDS):
            closest, seen = scan.closest(fine + heights[:, None] * normals, normals, reach)
            along = ((closest.points - fine) * normals).sum(axis=1)
            seen &= np.abs(along) <= reach
            heights = np.where(seen, along, heights)
        return filled(heights, seen, self.mesh.triangles), seen


def filled(values: Floats, known: NDArray[np.bool_], triangles: Ints) -> Floats:
    """Return values (N,) with those that are not known the mean of their neighbours; zero where none is known."""
    rows = np.flatnonzero(~known)
    if not len(rows):
        return values
    starts, near = neighbours_of(triangles, len(values))
    graph = sparse.csr_array((np.ones(len(near)), near, starts), shape=(len(values), len(values)))
    sides = graph[rows]
    # A small weight at zero: a part that the scan lacks altogether has no neighbour with a value.
    system = sparse.diags_array(sides.sum(axis=1) + 1e-6) - sides[:, rows]
    result = values.copy()
    result[rows] = np.atleast_1d(spsolve(system.tocsc(), sides @ np.where(known, values, 0.0)))
    return result
