"""Shapes of files brought to the rig: its unit, its axes, its vertices in its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import FileError, InputError
from posespace.geometry.edges import distinct
from posespace.geometry.half_edges import HalfEdges, Indices, half_edges, match_by_faces
from posespace.geometry.places import match_by_places
from posespace.mesh import Mesh
from posespace.rig import Rig

UPS = {"z": "x,z,-y", "y": "x,-z,y"}
"""Short names of the two usual ways to turn a shape: from z up to y up, and from y up to z up."""

_SAME_EDGES = 0.6
"""A file that joins this fraction of its neighbours as the rig does has the rig's order: quads may be cut otherwise."""

_PLAUSIBLE = 0.25
"""A shape matched by position lies no farther from plain skinning than this fraction of the box."""


@dataclass(frozen=True)
class Placing:
    """How shapes of files become shapes of the rig.

    Parameters
    ----------
    unit : what the numbers of a shape are multiplied by, by a pattern of pose names: ``{"*": 0.01}``
    up : which of a shape's axes are the rig's x, y and z, such as "x,z,-y", by a pattern of pose names; "z" for shapes
        that have z up where the rig has y up, "y" for the opposite
    match : "order", or "positions" for shapes whose vertices are in another order or merged at seams
    """

    unit: Mapping[str, float] = field(default_factory=dict)
    up: Mapping[str, str] = field(default_factory=dict)
    match: str = "order"

    def __post_init__(self) -> None:
        for value in self.unit.values():
            if not 0 < check.number("unit", value) < np.inf:
                raise InputError(f"unit: expected a number above 0, got {value}")
        for axes in self.up.values():
            axes_matrix(axes)
        check.choice("match", self.match, ("order", "positions"))

    def require_used(self, names: tuple[str, ...]) -> None:
        """Raise if a pattern matches none of the pose names."""
        for what, patterns in (("unit", self.unit), ("up", self.up)):
            for pattern in patterns:
                if not any(fnmatchcase(name, pattern) for name in names):
                    some = ", ".join(names[:4])
                    raise InputError(f"{what} {pattern!r}: no pose with a shape is called that; they are {some}, ...")

    def placed(self, name: str, points: Floats) -> Floats:
        """Return the points (N, 3) of the shape of a pose in the rig's unit and axes."""
        moved = points
        for pattern, axes in self.up.items():
            if fnmatchcase(name, pattern):
                moved = moved @ axes_matrix(axes).T
        for pattern, factor in self.unit.items():
            if fnmatchcase(name, pattern):
                moved = moved * factor
        return moved

    def made(self) -> dict[str, str]:
        """Return the settings as a store keeps them: by name, in words."""
        words = {
            "unit": ", ".join(f"{pattern}={value:g}" for pattern, value in self.unit.items()),
            "up": ", ".join(f"{pattern}={value}" for pattern, value in self.up.items()),
        }
        return {name: value or "as it is" for name, value in words.items()} | {"match": self.match}


def axes_matrix(axes: str) -> Floats:
    """Return the matrix (3, 3) that takes a shape's axes to the rig's: "x,z,-y", or a short name."""
    words = [word.strip() for word in UPS.get(axes, axes).split(",")]
    if sorted(word.removeprefix("-") for word in words) != ["x", "y", "z"]:
        raise InputError(f"up: expected y, z or three axes such as x,z,-y, got {axes[:40]!r}")
    matrix = np.zeros((3, 3))
    for row, word in enumerate(words):
        matrix[row, "xyz".index(word[-1])] = -1.0 if word.startswith("-") else 1.0
    return matrix


def in_order(source: Path, shape: Mesh, rig: Rig) -> Floats:
    """Return the points of a shape that has the rig's vertices in the rig's order; raise for another number of them."""
    have, want, seams = len(shape.points), len(rig.mesh.points), len(rig.mesh.weld.first)
    if have == want:
        return shape.points
    counts = f"has {have:,} vertices; the rig has {want:,}"
    if have == seams:
        why = f"{counts}, at {seams:,} positions: its seams are merged; give --match positions"
        raise FileError(source, why)
    if len(shape.weld.first) == seams:
        raise FileError(source, f"{counts}, both at {seams:,} positions: split elsewhere; give --match positions")
    raise FileError(source, f"{counts}; it is a shape of another mesh")


def by_positions(source: Path, shape: Mesh, rig: Rig, skinned: Floats) -> Floats:
    """Return the points of a shape in the rig's order, whatever its own, or raise where a vertex remains in doubt.

    Parameters
    ----------
    skinned : (N, 3) the rig in the pose of the shape
    """
    if len(shape.points) == len(skinned) and len(shape.triangles) and same_faces(shape, rig.mesh) == 1:
        return shape.points
    size = max(float(np.linalg.norm(np.ptp(skinned, axis=0))), 1e-300)
    for match in (_whole_match, _seam_match):
        found = match(shape, rig, skinned)
        if found is not None:
            points = np.asarray(shape.points[found])
            # Faces of parts that are alike are told apart by where they are, so that must not be far off.
            if np.sqrt(((points - skinned) ** 2).sum(axis=1).mean()) <= _PLAUSIBLE * size:
                return points
    have, want = len(shape.weld.first), len(rig.mesh.weld.first)
    if have != want:
        counts = f"has {len(shape.points):,} vertices at {have:,} positions"
        raise FileError(source, f"{counts}; the rig has {len(skinned):,} at {want:,}: it is a shape of another mesh")
    ratio = shape.diagonal / size
    hint = f"; its box is {ratio:.3g} times the rig's, so give --unit" if not 0.5 < ratio < 2 else ""
    remedy = hint or "; export it with faces, in the rig's order, or check its pose and --up"
    raise FileError(source, f"its vertices cannot be matched by position beyond doubt{remedy}")


def same_faces(shape: Mesh, mesh: Mesh) -> float:
    """Return the fraction of a shape's edges, vertices taken in order, that the mesh has too; seams count as closed."""
    return _shared(_sides(shape, mesh.weld.groups), _sides(mesh, mesh.weld.groups))


def is_reordered(shape: Mesh, mesh: Mesh) -> bool:
    """Return whether the faces of a shape's file show that its vertices are not in the order of the mesh."""
    return len(shape.triangles) > 0 and same_faces(shape, mesh) < _SAME_EDGES


def _whole_match(shape: Mesh, rig: Rig, skinned: Floats) -> Indices | None:
    """Match vertex by vertex, where both have the same number and the same faces."""
    if len(shape.points) != len(skinned):
        return None
    every = np.arange(len(skinned), dtype=np.int32)
    return match_by_faces(_sides(rig.mesh, every), skinned, _sides(shape, every), shape.points)


def _seam_match(shape: Mesh, rig: Rig, skinned: Floats) -> Indices | None:
    """Match position by position: vertices that seams split are taken as one on both sides."""
    own, other = rig.mesh.weld, shape.weld
    if len(own.first) != len(other.first):
        return None
    points, others = skinned[own.first], shape.points[other.first]
    ours, theirs = _sides(rig.mesh, own.groups), _sides(shape, other.groups)
    found = match_by_faces(ours, points, theirs, others)
    if found is None:
        found = match_by_places(points, own.groups[rig.mesh.triangles], others)
        # Places alone may mislead: faces, where the shape has any, must agree.
        if found is not None and len(theirs.start):
            back = np.argsort(found)
            renamed = theirs._replace(start=back[theirs.start], end=back[theirs.end])
            found = found if _shared(renamed, ours) >= _SAME_EDGES else None
    return None if found is None else other.first[found][own.groups].astype(np.int64)


def _sides(mesh: Mesh, groups: Ints) -> HalfEdges:
    """The half-edges of a mesh, each vertex taken as its group."""
    corners, sizes = mesh.polygons()
    return half_edges(groups[corners].astype(np.int64), sizes, int(groups.max(initial=-1)) + 1)


def _shared(sides: HalfEdges, others: HalfEdges) -> float:
    """The fraction of edges that others have too."""
    base = int(max(sides.start.max(initial=0), others.start.max(initial=0))) + 1
    rows, known = (distinct(np.stack([each.start, each.end], axis=1))[0] for each in (sides, others))
    return float(np.isin(rows @ (base, 1), known @ (base, 1)).mean()) if len(rows) else 1.0
