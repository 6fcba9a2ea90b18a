"""Shapes of files brought to the rig: its unit, its axes, its vertices in its order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, load
from posespace.gathering.seams import seams_of
from posespace.gathering.vertex_matching import is_merged, match_vertices
from posespace.geometry.half_edges import Indices
from posespace.mesh import Mesh
from posespace.pose import Pose
from posespace.rig import Rig

UPS = {"z": "x,z,-y", "y": "x,-z,y"}
"""Short names of the two usual ways to turn a shape: from z up to y up, and from y up to z up."""

_OTHER_MESH = 0.05
"""A file whose number of positions differs from the rig's by more than this fraction holds another mesh."""

IN_ORDER, SPLIT_AGAIN, MATCHED = "in order", "seams split again", "by faces and positions"
"""How the vertices of a shape were found."""


@dataclass(frozen=True)
class Placing:
    """How shapes of files become shapes of the rig.

    Parameters
    ----------
    unit : what the numbers of a shape are multiplied by, by a pattern of pose names: ``{"*": 0.01}``
    up : which of a shape's axes are the rig's x, y and z, such as "x,z,-y", by a pattern of pose names; "z" for shapes
        that have z up where the rig has y up, "y" for the opposite
    match : "order", or "positions" for shapes with as many vertices as the rig in another order; shapes with
        another number of vertices, such as those whose seams are merged, are matched either way
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


class VertexOrder:
    """Brings shapes into the rig's vertex order; how files of one topology are ordered is found once.

    Parameters
    ----------
    rig : the rig
    match : see `Placing`
    """

    def __init__(self, rig: Rig, match: str = "order") -> None:
        self._rig, self._match = rig, match
        self._seams = seams_of(rig)
        self._known: dict[tuple[object, ...], Indices] = {}

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
        if self._match == "order" and len(shape.points) == len(skinned):
            return shape.points, IN_ORDER
        if is_merged(shape, self._rig.mesh, self._seams):
            return np.asarray(shape.points[self._seams.groups]), SPLIT_AGAIN
        key = _topology(source, shape)
        found = self._known.get(key)
        if found is None or (not len(shape.triangles) and not _is_smooth(shape.points[found], skinned, self._rig.mesh)):
            found = match_vertices(shape, self._rig.mesh, self._seams, skinned)
        if found is None:
            raise UnmatchedError(source, _why_unmatched(shape, self._rig.mesh, skinned))
        self._known.setdefault(key, found)
        return np.asarray(shape.points[found]), MATCHED


def load_shape(path: str | Path, rig: Rig, pose: Pose | None = None, match: str = "order") -> Floats:
    """Return the points (N, 3) of a shape file, such as `posespace pose` writes, in the rig's vertex order.

    Parameters
    ----------
    path : a mesh file; where its seams are merged, the rig's split is recovered
    rig : the rig
    pose : about the pose of the shape, by which parts that are alike are told apart; None: the rest pose
    match : see `Placing`
    """
    Placing(match=match)
    file = Path(path)
    shape = load.load_mesh(file)
    with files.naming(file):
        return VertexOrder(rig, match).points(file, shape, rig.skin(rig.rest if pose is None else pose))[0]


class UnmatchedError(FileError):
    """A shape whose vertices are not known; another of the same topology may tell."""


def _topology(source: Path, shape: Mesh) -> tuple[object, ...]:
    """What files have in common whose vertices are in one order: their faces, or, without faces, their folder."""
    if not len(shape.triangles):
        return len(shape.points), source.parent, source.suffix
    sizes = b"" if shape.face_sizes is None else shape.face_sizes.tobytes()
    return len(shape.points), hashlib.sha256(shape.triangles.tobytes() + sizes).digest()


def _is_smooth(points: Floats, skinned: Floats, mesh: Mesh) -> bool:
    """Whether neighbours are about as near to one another as plain skinning has them: the order fits this shape."""
    ends = mesh.triangles[:, :2]
    lengths, usual = (
        np.median(np.linalg.norm(each[ends[:, 0]] - each[ends[:, 1]], axis=1)) for each in (points, skinned)
    )
    return bool(lengths <= 2 * usual)


def _why_unmatched(shape: Mesh, mesh: Mesh, skinned: Floats) -> str:
    have, want = len(shape.weld.first), len(mesh.weld.first)
    ratio = shape.diagonal / max(float(np.linalg.norm(np.ptp(skinned, axis=0))), 1e-300)
    if not 0.5 < ratio < 2 and shape.face_count == mesh.face_count:
        return f"its vertices cannot be matched beyond doubt; its box is {ratio:.3g} times the rig's, so give --unit"
    if abs(have - want) > _OTHER_MESH * want:
        counts = f"has {len(shape.points):,} vertices at {have:,} positions"
        return f"{counts}; the rig has {len(skinned):,} at {want:,}: it is a shape of another mesh"
    remedy = "export it with faces, in the rig's order, or check its pose and --up"
    return f"its {len(shape.points):,} vertices cannot be matched to the rig's {len(skinned):,} beyond doubt; {remedy}"
