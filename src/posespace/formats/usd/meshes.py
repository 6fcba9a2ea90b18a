"""The meshes of a USD file: their polygons, the joints that move them, their blend shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats.joining import join_influences
from posespace.formats.usd.process import Extracted, Record, affine, afford
from posespace.mesh import Mesh


@dataclass(frozen=True, eq=False)
class MeshPrim:
    """A mesh of the file in place: in its skeleton's space if joints move it, else in the world.

    Parameters
    ----------
    record : what the file says of it
    move : (4, 4) from its own space
    mesh : moved
    """

    record: Record
    move: Floats
    mesh: Mesh

    @property
    def size(self) -> int:
        """How many vertices it has."""
        return len(self.mesh.points)

    @property
    def is_skinned(self) -> bool:
        """Whether joints move it."""
        return "weights" in self.record

    @property
    def shapes(self) -> list[Record]:
        """Its blend shapes."""
        records: list[Record] = self.record.get("shapes", [])
        return records


def read_meshes(extracted: Extracted) -> list[MeshPrim]:
    """Return the meshes that have points, in the file's order."""
    parts: list[MeshPrim] = []
    faces = bare = unbound = 0
    for record in extracted.description["meshes"]:
        path, points, is_skinned = record["path"], extracted.array(record["points"]), "weights" in record
        if points is None or not len(points):
            bare += 1
            continue
        if record["weighted"] and not is_skinned:
            if "skeleton" in record:
                raise InputError(f"{path}: its joint indices and joint weights do not fit each other")
            unbound += 1
        move = affine(f"{path} transform", [record["bind" if is_skinned else "world"]], 1)[0]
        mesh, dropped = _placed_mesh(extracted, record, points, move)
        faces += dropped
        parts.append(MeshPrim(record, move, mesh))
    extracted.note(bare, "meshes without points are left out")
    extracted.note(faces, "faces of fewer than 3 corners are left out")
    extracted.note(unbound, "meshes have joint weights but no skeleton: they are read as unrigged")
    return parts


def _placed_mesh(extracted: Extracted, record: Record, points: Floats, move: Floats) -> tuple[Mesh, int]:
    """Return a mesh's polygons, moved and facing outwards, and how many faces of fewer than 3 corners it has."""
    path = record["path"]
    sizes = check.indices(f"{path} faceVertexCounts", _or_empty(extracted, record["sizes"]), ("F",), below=2**31)
    corners = check.indices(f"{path} faceVertexIndices", _or_empty(extracted, record["corners"]), ("C",), len(points))
    if int(sizes.sum(dtype=np.int64)) != len(corners):
        raise InputError(f"{path}: its faces have {sizes.sum(dtype=np.int64)} corners, got {len(corners)} indices")
    polygon = sizes >= 3
    corners, sizes = corners[np.repeat(polygon, sizes)], sizes[polygon]
    # A reflection turns the mesh inside out.
    if record["left_handed"] != bool(np.linalg.det(move[:3, :3]) < 0):
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        corners = corners[first + (first - np.arange(len(corners))) % np.repeat(sizes, sizes)]
    if not np.array_equal(move, np.eye(4)):
        points = points @ move[:3, :3].T + move[:3, 3]
    mesh = Mesh.from_polygons(points.astype(np.float32), corners, sizes)
    return replace(mesh, unit=extracted.description["unit"]), int((~polygon).sum())


def _or_empty(extracted: Extracted, key: str | None) -> NDArray[np.int32]:
    array = extracted.array(key)
    return np.zeros(0, np.int32) if array is None else array


def influences(extracted: Extracted, parts: Sequence[MeshPrim], joints: Sequence[str]) -> tuple[Ints, Floats]:
    """Return which of a skeleton's `joints`, given by their paths, move each vertex of the joined meshes.

    Returns
    -------
    influences : (N, K) numbers of joints, strongest first
    weights : (N, K) float32
    """
    number = {joint: k for k, joint in enumerate(joints)}
    pairs = [_own_influences(extracted, part, number) for part in parts]
    afford(2 * sum(part.size for part in parts) * max(weights.shape[1] for _, weights in pairs), "joint weights")
    return join_influences(pairs)


def _own_influences(extracted: Extracted, part: MeshPrim, number: dict[str, int]) -> tuple[Ints, Floats]:
    """Return joints (N, K) and weights (N, K) of one mesh: one row repeated where all vertices are moved alike."""
    record, path = part.record, part.record["path"]
    order, width, rows = record["joints"], record["width"], 1 if record["constant"] else part.size
    missing = next((joint for joint in order or () if joint not in number), None)
    if missing is not None:
        raise InputError(f"{path}: joint {missing!r} is not in its skeleton")
    joint_numbers = np.array([number[joint] for joint in (number if order is None else order)], np.int32)
    indices, stored_weights = extracted.arrays[record["indices"]], extracted.arrays[record["weights"]]
    if not len(stored_weights) == len(indices) == rows * width:
        got = f"{len(indices)} indices and {len(stored_weights)} weights"
        raise InputError(f"{path}: expected {rows} x {width} joint indices and weights, got {got}")
    bound = joint_numbers[check.indices(f"{path} joint indices", indices, ("C",), below=len(joint_numbers))].reshape(
        rows, width
    )
    weights = check.floats(f"{path} joint weights", stored_weights, ("C",)).reshape(rows, width)
    slots = max(1, int((weights != 0).sum(axis=1).max(initial=0)))
    strongest = np.argsort(-weights, axis=1, kind="stable")[:, :slots]
    shape = (part.size, strongest.shape[1])
    own_bound: Ints = np.broadcast_to(np.take_along_axis(bound, strongest, axis=1), shape)
    return own_bound, np.broadcast_to(np.take_along_axis(weights, strongest, axis=1), shape)


def read_morphs(extracted: Extracted, parts: Sequence[MeshPrim]) -> dict[str, Floats]:
    """Return the displacements (N, 3) of the joined meshes by the names of their blend shapes."""
    count = sum(part.size for part in parts)
    names = dict.fromkeys(shape["name"] for part in parts for shape in part.shapes)
    afford(3 * count * len(names), "blend shapes")
    total = {name: np.zeros((count, 3), np.float32) for name in names}
    between: dict[str, None] = {}
    start = 0
    for part in parts:
        rows = slice(start, start := start + part.size)
        for shape in part.shapes:
            points, offsets = _offsets(extracted, shape, part.size)
            np.add.at(total[shape["name"]][rows], points, offsets @ part.move[:3, :3].T)
            if shape["between"]:
                between[shape["name"]] = None
    if between:
        extracted.notes.append(f"in-between shapes are left out: {', '.join(between)} move in a straight line")
    return {name: check.floats(f"blend shape {name!r}", move, (count, 3)) for name, move in total.items()}


def _offsets(extracted: Extracted, shape: Record, count: int) -> tuple[Ints, Floats]:
    """Return which of a mesh's `count` points a blend shape moves (C,), and their displacements (C, 3)."""
    offsets, points = extracted.array(shape["offsets"]), extracted.array(shape["points"])
    if offsets is None:
        return np.zeros(0, np.int32), np.zeros((0, 3))
    where = np.arange(count) if points is None or not len(points) else points
    where = check.indices(f"{shape['path']} pointIndices", where, ("C",), below=count)
    return where, check.floats(f"{shape['path']} offsets", offsets, (len(where), 3))
