"""As-rigid-as-possible deformation of the nearest example to given positions of the control points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry.edges import edges_of, neighbours_of
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.jit import njit
from posespace.poses.digests import pose_digests
from posespace.rivals.handles import Handles, HeldSurface, PointedSurface


@dataclass(frozen=True, eq=False)
class RigidSurface(PointedSurface):
    """A surface that starts from the example nearest to the control points.

    Parameters
    ----------
    handles : the surface, its control points and its examples
    settings : limits on the iterations
    solve : least squares for the surface from its edges
    ends : (E, 2) the edges
    starts, neighbours : (V + 1,) and (2E,) the neighbours of each vertex
    poses : digests of the poses it was fitted on
    """

    settings: NearestRigid
    solve: HeldSurface
    ends: Ints
    starts: Ints
    neighbours: Ints
    poses: tuple[str, ...]

    @property
    def tables(self) -> tuple[Floats, ...]:
        """What it stores, excluding the rig."""
        return (self.handles.shapes.astype(np.float32),)

    def shape(self, positions: Floats) -> Floats:
        """Return the surface (V, 3) whose control points are at `positions` (C, 3)."""
        start = self.handles.shapes[self.handles.nearest(positions)]
        i, j = self.ends.T
        edges = start[i] - start[j]
        least = self.settings.tolerance * self.rig.mesh.diagonal
        # First without rotations: a smooth start, however far the points have moved.
        shape = self.solve(edges, positions)
        rotations = np.empty((len(shape), 3, 3))
        for _ in range(self.settings.rounds):
            _rotate(start, shape, self.starts, self.neighbours, rotations)
            wanted = 0.5 * np.einsum("eij,ej->ei", rotations[i] + rotations[j], edges)
            moved = self.solve(wanted, positions)
            change = float(np.abs(moved - shape).max())
            shape = moved
            if change < least:
                break
        return shape


@dataclass(frozen=True)
class NearestRigid:
    """As-rigid-as-possible modelling (Sorkine, Alexa 2007) from the nearest example, control points exact.

    All edges have the same weight, so that one factorisation serves every example.

    Parameters
    ----------
    rounds : at least 1, most rounds of fitting a rotation per vertex and solving for the surface
    tolerance : above 0; rounds end when no vertex moves farther, as a fraction of the diagonal
    """

    rounds: int = 100
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        check.count("rounds", self.rounds)
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"tolerance: expected above 0, got {self.tolerance}")

    def fit(self, examples: Examples) -> RigidSurface:
        """Return the surface of examples whose joints are control points."""
        handles = Handles.of(examples)
        count, ends = len(handles.rest), edges_of(handles.triangles).ends
        row = np.arange(len(ends))
        values = np.concatenate([np.ones(len(ends)), -np.ones(len(ends))])
        where = (np.concatenate([row, row]), np.concatenate([ends[:, 0], ends[:, 1]]))
        rows = coo_array((values, where), shape=(len(ends), count)).tocsr()
        starts, neighbours = neighbours_of(handles.triangles, count)
        digests = tuple(pose_digests(examples.motion, examples.rig.skeleton))
        return RigidSurface(handles, self, HeldSurface(rows, handles.held), ends, starts, neighbours, digests)


@njit()
def _rotate(
    start: Floats, shape: Floats, starts: Ints, neighbours: Ints, rotations: Floats
) -> None:  # pragma: no cover - compiled
    """Write the rotation of the edges around each vertex between two shapes (V, 3)."""
    product = np.empty((3, 3))
    for i in range(len(start)):
        product[:] = 0.0
        for k in range(starts[i], starts[i + 1]):
            j = neighbours[k]
            for a in range(3):
                for b in range(3):
                    product[a, b] += (shape[i, a] - shape[j, a]) * (start[i, b] - start[j, b])
        nearest_rotation(product, rotations[i])
