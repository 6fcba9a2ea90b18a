"""Template: prepared for many scans: welded, with a coarse version and the map from that to the full one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.normals import vertex_normals, vertex_sums
from posespace.geometry.simplify import simplified
from posespace.geometry.surface import Surface
from posespace.mesh import Mesh
from posespace.register.energy import Energy


class Template:
    """A template, its energies and its coarse version.

    Parameters
    ----------
    mesh : at least one triangle; vertices at seams are taken as one
    coarse : triangles that the coarse version has at most
    """

    def __init__(self, mesh: Mesh, coarse: int) -> None:
        self.mesh = mesh
        self.weld = mesh.weld
        self.points = np.asarray(mesh.points[self.weld.first], dtype=np.float64)
        corners = self.weld.groups[mesh.triangles]
        self.triangles: Ints = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
        if not len(self.triangles) or not mesh.diagonal > 0:
            raise InputError("template: expected a mesh with triangles, got none that has an area")
        self.surface = Surface(self.points, self.triangles)
        few, faces = simplified(self.points, self.triangles, coarse)
        self.is_coarse = len(faces) == len(self.triangles)
        self.low = self.energy if self.is_coarse else Energy(few, faces)
        self.low_surface = Surface(self.low.points, self.low.triangles)
        self.carry = Carry.of(self.low, self.low_surface, self.points, self.normals)

    @cached_property
    def energy(self) -> Energy:
        """The energy of the whole template."""
        return Energy(self.points, self.triangles)

    @cached_property
    def normals(self) -> Floats:
        """(N, 3) of the welded template."""
        return vertex_normals(self.points, self.triangles)


@dataclass(frozen=True, eq=False)
class Carry:
    """Moves the full template with the coarse one: each vertex is bound to the corners of a coarse triangle.

    Parameters
    ----------
    low : the coarse template
    corners : (N, 3) its vertices
    shares : (N, 3) of each
    points : (N, 3) the whole template at rest
    """

    low: Energy
    corners: Ints
    shares: Floats
    points: Floats

    @classmethod
    def of(cls, low: Energy, surface: Surface, points: Floats, normals: Floats) -> Carry:
        """Bind points (N, 3) with normals (N, 3) to the closest points of the coarse template that face their way."""
        closest = surface.closest(points, normals)
        return cls(low, low.triangles[closest.triangles], closest.shares, points)

    def __call__(self, positions: Floats) -> Floats:
        """Return the points (N, 3) for `positions` (M + T, 3) of the coarse template and its normals."""
        low, count = self.low, len(self.low.points)
        around = vertex_sums(low.gradients(positions).reshape(-1, 9), low.triangles, count).reshape(-1, 3, 3)
        fans = np.maximum(np.bincount(low.triangles.ravel(), minlength=count), 1)
        vertex_gradients = around / fans[:, None, None]
        offsets = self.points[:, None] - low.points[self.corners]
        moved = positions[self.corners] + np.einsum("nkij,nkj->nki", vertex_gradients[self.corners], offsets)
        carried: Floats = np.einsum("nk,nki->ni", self.shares, moved)
        return carried


def mixture(surface: Surface, positions: Floats) -> sparse.csr_array:
    """Return the matrix (L, N) from the surface's vertices to its points closest to `positions` (L, 3)."""
    closest = surface.closest(positions)
    rows = np.repeat(np.arange(len(positions)), 3)
    columns = surface.triangles[closest.triangles].ravel()
    return sparse.csr_array((closest.shares.ravel(), (rows, columns)), shape=(len(positions), len(surface.points)))
