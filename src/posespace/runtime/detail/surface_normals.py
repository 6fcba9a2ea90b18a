"""Normals of a posed surface, compiled: the areas of the triangles around each vertex, shared across seams.

As `geometry.normals`, but written in place, in 32 bits, on several cores.
"""

from __future__ import annotations

import math
from copy import copy
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats32
from posespace.geometry.edges import triangles_around
from posespace.mesh import Mesh
from posespace.runtime.compiled import Ints32, compiled, on_all_cores
from posespace.runtime.entries import owned


class Fans(NamedTuple):
    """Which triangles share in each normal.

    Parameters
    ----------
    triangles : (T, 3) int32
    groups : (N,) int32, the normal of each vertex: one per position and side
    starts : (G + 1,) int32, where the triangles of a normal begin in `around`
    around : (3 T,) int32
    firsts : (G,) int32, the first vertex of each normal
    others : (N - G,) int32, all vertices that are not such
    areas : (T, 3) float32, to work in
    """

    triangles: Ints32
    groups: Ints32
    starts: Ints32
    around: Ints32
    firsts: Ints32
    others: Ints32
    areas: Floats32


def fans_of(mesh: Mesh) -> Fans:
    """Find the triangles whose areas make each normal of a mesh."""
    triangles = owned("mesh triangles", mesh.triangles, len(mesh.points))
    groups, firsts = mesh.shading.groups.astype(np.int32), mesh.shading.first.astype(np.int32)
    starts, around = triangles_around(groups[triangles], len(firsts))
    others = np.setdiff1d(np.arange(len(groups), dtype=np.int32), firsts)
    areas = np.zeros((len(triangles), 3), np.float32)
    return Fans(triangles, groups, starts, around, firsts, others, areas)


def _surface_normals(
    parts: int, fans: Fans, points: NDArray[np.floating], out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write unit normals (N, 3) of points (N, 3); a vertex with no area around it has (0, 0, 1).

    Each is computed once, however many vertices share it.
    """
    triangles, groups, starts, around, firsts, others, areas = fans
    count = len(triangles)
    for part in prange(parts):
        for t in range(part * count // parts, (part + 1) * count // parts):
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
            vx, vy, vz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
            areas[t, 0] = uy * vz - uz * vy
            areas[t, 1] = uz * vx - ux * vz
            areas[t, 2] = ux * vy - uy * vx
    normals = len(firsts)
    for part in prange(parts):
        for group in range(part * normals // parts, (part + 1) * normals // parts):
            x, y, z, v = 0.0, 0.0, 0.0, firsts[group]
            for k in range(starts[group], starts[group + 1]):
                t = around[k]
                x, y, z = x + areas[t, 0], y + areas[t, 1], z + areas[t, 2]
            length = math.sqrt(x * x + y * y + z * z)
            if 0.0 < length < math.inf:
                scale = 1.0 / length
                out[v, 0], out[v, 1], out[v, 2] = x * scale, y * scale, z * scale
            else:
                out[v, 0], out[v, 1], out[v, 2] = 0.0, 0.0, 1.0
    copies = len(others)
    for part in prange(parts):
        for k in range(part * copies // parts, (part + 1) * copies // parts):
            v, first = others[k], firsts[groups[others[k]]]
            out[v, 0], out[v, 1], out[v, 2] = out[first, 0], out[first, 1], out[first, 2]


_surface_normals_on_all_cores, _surface_normals_alone = on_all_cores(_surface_normals), compiled(_surface_normals)


class SurfaceNormals:
    """The normals of a mesh's posed surface.

    Parameters
    ----------
    mesh : the mesh
    threads : how many cores work on a frame
    """

    def __init__(self, mesh: Mesh, threads: int) -> None:
        self._fans, self._threads = fans_of(mesh), threads
        self._loop = _surface_normals_on_all_cores if threads > 1 else _surface_normals_alone

    @property
    def nbytes(self) -> int:
        """Bytes that a frame reads and writes besides points and normals; areas are written and read."""
        fans = self._fans
        return sum(table.nbytes for table in fans) + fans.areas.nbytes

    def clone(self) -> SurfaceNormals:
        """Return the same with its own room to work in, for another thread."""
        other = copy(self)
        other._fans = self._fans._replace(areas=np.zeros_like(self._fans.areas))
        return other

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._threads, self._loop = 1, _surface_normals_alone

    def write(self, points: NDArray[np.floating], out: Floats32) -> None:
        """Write unit normals (N, 3) of posed points (N, 3)."""
        self._loop(self._threads, self._fans, points, out)
