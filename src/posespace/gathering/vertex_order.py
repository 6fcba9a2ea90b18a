"""VertexOrder: the points of a shape file in the rig's vertex order."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError
from posespace.gathering.conventions import ORDER
from posespace.gathering.seams import seams_of
from posespace.gathering.vertex_matching import is_merged, match_vertices
from posespace.geometry.half_edges import Indices
from posespace.mesh import Mesh
from posespace.rig import Rig

_OTHER_MESH = 0.05
"""A file whose number of positions differs from the rig's by more than this fraction holds another mesh."""

IN_ORDER, SPLIT_AGAIN, MATCHED = "in order", "seams split again", "by faces and positions"
"""How the vertices of a shape were found."""


class UnmatchedError(FileError):
    """The vertices of a shape could not be matched; another shape of the same topology may show their order."""


class VertexOrder:
    """Brings shapes into the rig's vertex order; files of one topology are matched once.

    Parameters
    ----------
    rig : the rig
    match : see `Conventions`
    """

    def __init__(self, rig: Rig, match: str = ORDER) -> None:
        self._rig, self._match = rig, match
        self._seams = seams_of(rig)
        self._matches: dict[tuple[object, ...], Indices] = {}

    def points(self, source: Path, shape: Mesh, skinned: Floats) -> tuple[Floats, str]:
        """Return the points (N, 3) of a shape in the rig's order, and how they were found; raise if that is in doubt.

        A shape with as many vertices as the rig is taken in its order, unless positions are asked for; one whose
        seams are merged gets the rig's split back. Any other is matched.

        Parameters
        ----------
        source : its file
        shape : the shape, in the rig's unit and axes
        skinned : (N, 3) the rig in the pose of the shape
        """
        if self._match == ORDER and len(shape.points) == len(skinned):
            return shape.points, IN_ORDER
        mesh = self._rig.mesh
        if is_merged(shape, mesh, self._seams):
            return np.asarray(shape.points[self._seams.groups]), SPLIT_AGAIN
        topology = _topology(source, shape)
        matches = self._matches.get(topology)
        # Without faces, the same number of vertices in one folder is only a hint at the same order.
        if matches is None or (not len(shape.triangles) and not _is_smooth(shape.points[matches], skinned, mesh)):
            matches = match_vertices(shape, mesh, self._seams, skinned)
        if matches is None:
            raise UnmatchedError(source, _why_unmatched(shape, mesh, skinned))
        self._matches.setdefault(topology, matches)
        return np.asarray(shape.points[matches]), MATCHED


def _topology(source: Path, shape: Mesh) -> tuple[object, ...]:
    """What files have in common whose vertices are in one order: their faces, or, without faces, their folder."""
    if not len(shape.triangles):
        return len(shape.points), source.parent, source.suffix
    sizes = b"" if shape.face_sizes is None else shape.face_sizes.tobytes()
    return len(shape.points), hashlib.sha256(shape.triangles.tobytes() + sizes).digest()


def _is_smooth(points: Floats, skinned: Floats, mesh: Mesh) -> bool:
    """Whether neighbours are about as near to one another as in plain skinning, so that the order fits this shape."""
    ends = mesh.triangles[:, :2]
    length, usual = (
        np.median(np.linalg.norm(shape[ends[:, 0]] - shape[ends[:, 1]], axis=1)) for shape in (points, skinned)
    )
    return bool(length <= 2 * usual)


def _why_unmatched(shape: Mesh, mesh: Mesh, skinned: Floats) -> str:
    """The reason why a shape could not be matched, and the remedy, in one line."""
    count, expected = len(shape.weld.first), len(mesh.weld.first)
    ratio = shape.diagonal / max(float(np.linalg.norm(np.ptp(skinned, axis=0))), 1e-300)
    if not 0.5 < ratio < 2 and shape.face_count == mesh.face_count:
        return f"its vertices cannot be matched beyond doubt; its box is {ratio:.3g} times the rig's, so give `unit`"
    if abs(count - expected) > _OTHER_MESH * expected:
        counts = f"has {len(shape.points):,} vertices at {count:,} positions"
        return f"{counts}; the rig has {len(skinned):,} at {expected:,}: it is a shape of another mesh"
    remedy = "export it with faces, in the rig's order, or check its pose and `up`"
    return f"its {len(shape.points):,} vertices cannot be matched to the rig's {len(skinned):,} beyond doubt; {remedy}"
