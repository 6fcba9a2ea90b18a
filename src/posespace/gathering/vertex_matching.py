"""Vertices of a shape matched to those of a rig, whatever their order and wherever a file splits or merges them.

Faces decide, and positions only between parts that are alike, so that neither a bold sculpt nor rounding misleads.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posespace.check import Floats, Ints
from posespace.gathering.seams import ROUNDING
from posespace.geometry.edges import distinct
from posespace.geometry.half_edges import HalfEdges, Indices, half_edges, match_by_faces
from posespace.geometry.position_matching import match_by_position
from posespace.geometry.weld import Weld, weld_points
from posespace.geometry.weld_within import weld_within
from posespace.mesh import Mesh

_SAME_EDGES = 0.6
"""A file that joins this fraction of its neighbours as the rig does has the rig's order: quads may be cut otherwise."""

_PLAUSIBLE = 0.25
"""A shape matched by position lies no farther from plain skinning than this fraction of the box."""

_TOLERANCES = (0.0, 0.1 * ROUNDING, ROUNDING, 10 * ROUNDING)
"""How near vertices of a file are taken as one, in diagonals: as files of many digits round, then of few."""


def match_vertices(shape: Mesh, mesh: Mesh, seams: Weld, skinned: Floats) -> Indices | None:
    """Return for each vertex of a rig (N,) the vertex of a shape that it is, or None where one remains in doubt.

    Parameters
    ----------
    shape : a mesh with the rig's surface, in any order, its vertices split or merged anywhere at seams
    mesh : the rig's
    seams : which of its vertices are one, see `seams_of`
    skinned : (N, 3) the rig in about the pose of the shape
    """
    if len(shape.points) == len(mesh.points) and len(shape.triangles) and same_faces(shape, mesh) == 1:
        return np.arange(len(mesh.points))
    size = max(float(np.linalg.norm(np.ptp(skinned, axis=0))), 1e-300)
    for ours, theirs in _welds(shape, mesh, seams, skinned, size):
        found = _by_faces(shape, mesh, skinned, ours, theirs)
        if found is not None and _is_near(shape.points[found], skinned, size):
            return found
    for ours, theirs in _welds(shape, mesh, seams, skinned, size):
        found = _by_places(shape, mesh, skinned, ours, theirs)
        if found is not None and _is_near(shape.points[found], skinned, size):
            return found
    return None


def same_faces(shape: Mesh, mesh: Mesh) -> float:
    """Return the fraction of a shape's edges, vertices taken in order, that the mesh has too; seams count as closed."""
    return _shared(_sides(shape, mesh.weld.groups), _sides(mesh, mesh.weld.groups))


def is_reordered(shape: Mesh, mesh: Mesh) -> bool:
    """Return whether the faces of a shape's file show that its vertices are not in the order of the mesh."""
    return len(shape.triangles) > 0 and same_faces(shape, mesh) < _SAME_EDGES


def is_merged(shape: Mesh, mesh: Mesh, seams: Weld) -> bool:
    """Return whether a shape has one vertex for each that seams split, in the order and with the faces of the mesh."""
    if len(shape.points) != len(seams.first) or not len(shape.triangles):
        return False
    every = np.arange(len(shape.points), dtype=np.int32)
    return _shared(_sides(shape, every), _sides(mesh, seams.groups)) == 1


def _welds(shape: Mesh, mesh: Mesh, seams: Weld, skinned: Floats, size: float) -> Iterator[tuple[Weld, Weld]]:
    """Yield what may be one vertex on either side, as many on both: nothing, seams, or all at one position."""
    single = Weld.of(np.arange(len(mesh.points)))
    at_rest, coarse = (weld_within(mesh.points, each * mesh.diagonal) for each in _TOLERANCES[-2:])
    ours = [single, seams, at_rest.split_unlike(skinned, ROUNDING * size), at_rest, mesh.weld, coarse]
    theirs = [Weld.of(np.arange(len(shape.points))), *(weld_within(shape.points, each * size) for each in _TOLERANCES)]
    tried: set[tuple[int, int]] = set()
    for k, own in enumerate(ours):
        for other in theirs:
            if len(own.first) == len(other.first) and (key := (k, len(other.first))) not in tried:
                tried.add(key)
                yield own, other


def _by_faces(shape: Mesh, mesh: Mesh, skinned: Floats, ours: Weld, theirs: Weld) -> Indices | None:
    sides = _sides(mesh, ours.groups), _sides(shape, theirs.groups)
    found = match_by_faces(sides[0], skinned[ours.first], sides[1], shape.points[theirs.first])
    return None if found is None else theirs.first[found][ours.groups].astype(np.int64)


def _by_places(shape: Mesh, mesh: Mesh, skinned: Floats, ours: Weld, theirs: Weld) -> Indices | None:
    points, others = skinned[ours.first], shape.points[theirs.first]
    # Vertices at one position cannot be told apart by it.
    if len(weld_points(points).first) < len(points):
        return None
    found = match_by_position(points, ours.groups[mesh.triangles], others)
    if found is None:
        return None
    sides = _sides(shape, theirs.groups)
    if len(sides.start):
        # Places alone may mislead: faces, where the shape has any, must agree.
        back = np.argsort(found)
        renamed = sides._replace(start=back[sides.start], end=back[sides.end])
        if _shared(renamed, _sides(mesh, ours.groups)) < _SAME_EDGES:
            return None
    return theirs.first[found][ours.groups].astype(np.int64)


def _is_near(points: Floats, skinned: Floats, size: float) -> bool:
    """Faces of parts that are alike are told apart by where they are, so that must not be far off."""
    return bool(np.sqrt(((points - skinned) ** 2).sum(axis=1).mean()) <= _PLAUSIBLE * size)


def _sides(mesh: Mesh, groups: Ints) -> HalfEdges:
    """The half-edges of a mesh, each vertex taken as its group."""
    corners, sizes = mesh.polygons()
    return half_edges(groups[corners].astype(np.int64), sizes, int(groups.max(initial=-1)) + 1)


def _shared(sides: HalfEdges, others: HalfEdges) -> float:
    """The fraction of edges that others have too."""
    base = int(max(sides.start.max(initial=0), others.start.max(initial=0))) + 1
    rows, known = (distinct(np.stack([each.start, each.end], axis=1))[0] for each in (sides, others))
    return float(np.isin(rows @ (base, 1), known @ (base, 1)).mean()) if len(rows) else 1.0
