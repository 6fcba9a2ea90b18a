"""A template made ready for many scans: welded, with a coarse version, and what carries that to the whole one."""

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
    """Each vertex of the whole template hangs on the three corners of a triangle of the coarse one.

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
        """Hang points (N, 3) with normals (N, 3) on the closest place of the coarse template that faces their way."""
        found = surface.closest(points, normals)
        return cls(low, low.triangles[found.triangles], found.shares, points)

    def __call__(self, places: Floats) -> Floats:
        """Return the points (N, 3) that go with `places` (M + T, 3) of the coarse template and its normals."""
        low, count = self.low, len(self.low.points)
        around = vertex_sums(low.gradients(places).reshape(-1, 9), low.triangles, count).reshape(-1, 3, 3)
        fans = np.maximum(np.bincount(low.triangles.ravel(), minlength=count), 1)
        own = around / fans[:, None, None]
        offsets = self.points[:, None] - low.points[self.corners]
        moved = places[self.corners] + np.einsum("nkij,nkj->nki", own[self.corners], offsets)
        carried: Floats = np.einsum("nk,nki->ni", self.shares, moved)
        return carried


def mixture(surface: Surface, places: Floats) -> sparse.csr_array:
    """Return the matrix (L, N) that makes the surface's points closest to `places` (L, 3) of its vertices."""
    found = surface.closest(places)
    rows = np.repeat(np.arange(len(places)), 3)
    columns = surface.triangles[found.triangles].ravel()
    return sparse.csr_array((found.shares.ravel(), (rows, columns)), shape=(len(places), len(surface.points)))
