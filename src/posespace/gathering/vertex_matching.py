"""Vertices of a shape matched to those of a rig, whatever their order and wherever a file splits or merges them.

Faces decide; positions only tell similar parts apart, so that neither a bold sculpt nor rounding misleads.
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
"""Largest distance from plain skinning of a shape matched by position, as a fraction of the diagonal."""

_TOLERANCES = (0.0, 0.1 * ROUNDING, ROUNDING, 10 * ROUNDING)
"""Distances, in diagonals, within which vertices of a file are one: as files of many digits round, then of few."""


def match_vertices(shape: Mesh, mesh: Mesh, seams: Weld, skinned: Floats) -> Indices | None:
    """Return the vertex of a shape for each vertex of a rig (N,), or None where one remains in doubt.

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
        matches = _by_faces(shape, mesh, skinned, ours, theirs)
        if matches is not None and _is_near(shape.points[matches], skinned, size):
            return matches
    for ours, theirs in _welds(shape, mesh, seams, skinned, size):
        matches = _by_positions(shape, mesh, skinned, ours, theirs)
        if matches is not None and _is_near(shape.points[matches], skinned, size):
            return matches
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
    vertices = np.arange(len(shape.points), dtype=np.int32)
    return _shared(_sides(shape, vertices), _sides(mesh, seams.groups)) == 1


def _welds(shape: Mesh, mesh: Mesh, seams: Weld, skinned: Floats, size: float) -> Iterator[tuple[Weld, Weld]]:
    """Yield pairs of welds with as many vertices: of the mesh and of the shape, from none to all at one position."""
    single = Weld.of(np.arange(len(mesh.points)))
    at_rest, coarse = (weld_within(mesh.points, tolerance * mesh.diagonal) for tolerance in _TOLERANCES[-2:])
    ours = [single, seams, at_rest.split_unlike(skinned, ROUNDING * size), at_rest, mesh.weld, coarse]
    near = (weld_within(shape.points, tolerance * size) for tolerance in _TOLERANCES)
    theirs = [Weld.of(np.arange(len(shape.points))), *near]
    tried: set[tuple[int, int]] = set()
    for k, mesh_weld in enumerate(ours):
        for shape_weld in theirs:
            key = (k, len(shape_weld.first))
            if len(mesh_weld.first) == len(shape_weld.first) and key not in tried:
                tried.add(key)
                yield mesh_weld, shape_weld


def _by_faces(shape: Mesh, mesh: Mesh, skinned: Floats, ours: Weld, theirs: Weld) -> Indices | None:
    sides = _sides(mesh, ours.groups), _sides(shape, theirs.groups)
    matches = match_by_faces(sides[0], skinned[ours.first], sides[1], shape.points[theirs.first])
    return None if matches is None else theirs.first[matches][ours.groups].astype(np.int64)


def _by_positions(shape: Mesh, mesh: Mesh, skinned: Floats, ours: Weld, theirs: Weld) -> Indices | None:
    points, others = skinned[ours.first], shape.points[theirs.first]
    # Vertices at one position cannot be told apart by it.
    if len(weld_points(points).first) < len(points):
        return None
    matches = match_by_position(points, ours.groups[mesh.triangles], others)
    if matches is None:
        return None
    sides = _sides(shape, theirs.groups)
    if len(sides.start):
        # Positions alone may mislead: faces, where the shape has any, must agree.
        back = np.argsort(matches)
        renamed = sides._replace(start=back[sides.start], end=back[sides.end])
        if _shared(renamed, _sides(mesh, ours.groups)) < _SAME_EDGES:
            return None
    return theirs.first[matches][ours.groups].astype(np.int64)


def _is_near(points: Floats, skinned: Floats, size: float) -> bool:
    """Whether a matched shape is near plain skinning: similar parts are told apart by their positions alone."""
    return bool(np.sqrt(((points - skinned) ** 2).sum(axis=1).mean()) <= _PLAUSIBLE * size)


def _sides(mesh: Mesh, groups: Ints) -> HalfEdges:
    """The half-edges of a mesh, its vertices replaced by their groups."""
    corners, sizes = mesh.polygons()
    return half_edges(groups[corners].astype(np.int64), sizes, int(groups.max(initial=-1)) + 1)


def _shared(sides: HalfEdges, others: HalfEdges) -> float:
    """The fraction of edges that are also among the others."""
    base = int(max(sides.start.max(initial=0), others.start.max(initial=0))) + 1
    rows, known = (distinct(np.stack([half.start, half.end], axis=1))[0] for half in (sides, others))
    return float(np.isin(rows @ (base, 1), known @ (base, 1)).mean()) if len(rows) else 1.0
