"""Selection of control points: spread over the surface, denser where it moves more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry.geodesics import Geodesics
from posespace.geometry.pieces import piece_areas, pieces_of
from posespace.geometry.rigid import rigid
from posespace.mesh import Mesh

_STILL = 0.3
"""Factor on distances where nothing moves, relative to where the surface moves most: points are sparser there."""


def mean_displacements(examples: Examples) -> Floats:
    """Return (N,) the root mean square displacement of each vertex from rest, without the rigid motion of the whole."""
    rest = examples.rig.mesh.points.astype(np.float64)
    even = np.full(len(rest), 1 / len(rest))
    squares = np.zeros(len(rest))
    for row in range(len(examples)):
        shape = np.asarray(examples.shapes[row], dtype=np.float64)
        rotation, translation = rigid(rest, shape, even)
        squares += (((shape - translation) @ rotation - rest) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares / len(examples)))


def select_points(geodesics: Geodesics, displacements: Floats, mesh: Mesh, count: int) -> list[int]:
    """Return `count` vertices by farthest-point sampling, with distances weighted by how far a vertex moves.

    Pieces of the surface that are large enough for a point of their own get their first one first.

    Parameters
    ----------
    geodesics : distances over the surface
    displacements : (N,) how far each vertex moves over the examples
    mesh : the rest shape
    count : number of points
    """
    largest = float(displacements.max(initial=0.0))
    density = _STILL + (1 - _STILL) * (displacements / largest if largest > 0 else np.ones_like(displacements))
    is_due = _vertices_of_large_pieces(mesh, count)
    gaps = np.full(len(displacements), np.inf)
    chosen: list[int] = []
    vertex = int(np.where(is_due, displacements, -1.0).argmax())
    while True:
        chosen.append(vertex)
        if len(chosen) == count:
            return chosen
        gaps = np.minimum(gaps, geodesics([vertex])[0])
        weighted = np.where(np.isfinite(gaps), gaps, 0.0) * density
        without = np.isinf(gaps)
        if (without & is_due).any():
            weighted = np.where(without & is_due, density, 0.0)
        elif not weighted.max() > 0:
            weighted = np.where(without, density, 0.0)
        if not weighted.max() > 0:
            raise InputError(f"points: expected at most {len(chosen)}, the distinct positions of the mesh, got {count}")
        vertex = int(weighted.argmax())


def _vertices_of_large_pieces(mesh: Mesh, count: int) -> NDArray[np.bool_]:
    """Which vertices (N,) are of pieces that get a point where `count` are apportioned by area (Sainte-Laguë)."""
    pieces = pieces_of(mesh.triangles, len(mesh.points))
    areas = piece_areas(pieces, mesh.points, mesh.triangles)
    sizes = areas if areas.any() else np.bincount(pieces).astype(np.float64)
    seats = np.zeros(len(sizes))
    for _ in range(count):
        seats[(sizes / (2 * seats + 1)).argmax()] += 1
    return np.asarray(seats[pieces] > 0)
