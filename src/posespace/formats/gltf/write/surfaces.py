"""A rig's mesh as the meshes that it was joined from: a primitive per material, with the targets that move it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.grid import Grid, whole, whole_weights
from posespace.formats.gltf.write.buffers import INDICES, VERTICES, Output, smallest_type
from posespace.formats.gltf.write.conversion import Conversion
from posespace.formats.gltf.write.drivers import has_more_than_joints, mesh_drivers
from posespace.formats.gltf.write.looks import look_attributes, unit
from posespace.formats.gltf.write.morph_targets import Target
from posespace.formats.gltf.write.node_rig import NodeRig
from posespace.look import Look, Piece
from posespace.rig import Rig

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Surface:
    """A mesh of the file.

    Parameters
    ----------
    mesh : its object
    targets : those that move it, in its order
    """

    mesh: Json
    targets: list[Target]


def make_surfaces(
    output: Output,
    name: str,
    nodes: NodeRig,
    targets: Sequence[Target],
    conversion: Conversion,
    grid: Grid | None = None,
) -> list[Surface]:
    """Return the meshes of a skin; `name` is for one that has no look.

    With a `grid` the numbers of vertices and targets are whole.
    """
    rig, look = conversion.rig(nodes.rig), nodes.rig.mesh.look
    whole = Piece(0, 0, slice(0, len(rig.mesh.points)), slice(0, len(rig.mesh.triangles)))
    drawn = [whole] if look is None else [piece for piece in look.pieces() if _size(piece.triangles)]
    pieces = {mesh: [piece for piece in drawn if piece.mesh == mesh] for mesh in [piece.mesh for piece in drawn]}
    names = (name,) if look is None else look.meshes
    with_normals = any(target.normals is not None for target in targets)
    numbered = has_more_than_joints(nodes.skin)
    vertices = _Vertices(output, rig, nodes.bones, look, conversion, with_normals, grid, exact=numbered)
    if numbered:
        _require_all([piece for mesh_pieces in pieces.values() for piece in mesh_pieces], len(rig.mesh.points))
    surfaces = []
    for mesh, mesh_pieces in pieces.items():
        moved = [target for target in targets if any(_moves(target, piece.vertices) for piece in mesh_pieces)]
        moved = list(targets) if len(names) == 1 else moved
        surface = _mesh(vertices, names[mesh] or name, mesh_pieces, moved)
        drivers = mesh_drivers(moved) if moved else {}
        if numbered and len(drawn) > 1:
            drivers["vertices"] = [vertices.numbers(piece.vertices) for piece in mesh_pieces]
        surfaces.append(Surface(surface | ({"extensions": {EXTENSION: drivers}} if drivers else {}), moved))
    return surfaces


class _Vertices:
    """Adds the vertices of a file once, however many primitives share them."""

    def __init__(
        self,
        output: Output,
        rig: Rig,
        bones: range,
        look: Look | None,
        conversion: Conversion,
        with_normals: bool,
        grid: Grid | None,
        exact: bool,
    ) -> None:
        self.output, self.rig, self.look, self.conversion = output, rig, look, conversion
        self.with_normals, self.grid, self._exact = with_normals, grid, exact
        self._influences = _influences(rig, bones)
        self._normals = unit(_normals(rig, look, conversion, with_normals))
        self._accessors: dict[tuple[int, int], Json] = {}
        self._numbers: dict[tuple[int, int], int] = {}

    def attributes(self, rows: slice) -> Json:
        """Return the accessors of the vertices in some rows."""
        key = (rows.start, rows.stop)
        if key not in self._accessors:
            output, grid = self.output, self.grid
            points, normals = self.rig.mesh.points[rows].astype(np.float32), self._normals[rows]
            joints, weights = (table[rows] for table in self._influences)
            made: list[NDArray[Any]] = [points, normals, weights]
            if grid is not None:
                # Positions of bones, and normals that heights are along, are computed from these points.
                placed = grid.numbers(points).astype(np.float32) if self._exact else grid.points(points)
                made = [placed, whole(normals, 127).astype(np.int8), whole_weights(weights)]
                joints = np.where(made[2] > 0, joints, 0).astype(joints.dtype)
            fractions = grid is not None
            accessors = {
                "POSITION": output.add(made[0], VERTICES, bounds=True, normalized=fractions and not self._exact),
                "NORMAL": output.add(made[1], VERTICES, normalized=fractions),
            }
            for k in range(joints.shape[1] // 4):
                four = slice(4 * k, 4 * k + 4)
                accessors[f"JOINTS_{k}"] = output.add(joints[:, four], VERTICES)
                accessors[f"WEIGHTS_{k}"] = output.add(made[2][:, four], VERTICES, normalized=fractions)
            if self.look is not None:
                accessors |= look_attributes(output, self.look, rows, self.conversion)
            self._accessors[key] = accessors
        return self._accessors[key]

    def numbers(self, rows: slice) -> int:
        """Return the accessor of the numbers that the vertices in some rows have in the skin."""
        key = (rows.start, rows.stop)
        if key not in self._numbers:
            listed = np.arange(rows.start, rows.stop).astype(smallest_type(len(self.rig.mesh.points)))
            self._numbers[key] = self.output.add(listed)
        return self._numbers[key]

    def targets(self, targets: Sequence[Target], rows: slice) -> list[Json]:
        """Return the accessors of targets. All have the same kinds: some loaders take a missing one for the rest."""
        return [self._target(target, rows) for target in targets]

    def _target(self, target: Target, rows: slice) -> Json:
        first, last = np.searchsorted(target.support, (rows.start, rows.stop))
        support, none = target.support[first:last] - rows.start, np.zeros((last - first, 3))
        stored = {"POSITION": self._moved(none if target.points is None else target.points[first:last])}
        if self.with_normals:
            normals = none if target.normals is None else target.normals[first:last]
            stored["NORMAL"] = self._turned(normals, learned=target.layer >= 0)
        # Both have the same vertices, so that they share a list of them.
        kept = np.any([offsets.any(axis=1) for offsets in stored.values()], axis=0)
        return {
            name: self.output.add_sparse(support[kept], values[kept], _size(rows)) for name, values in stored.items()
        }

    def _moved(self, values: Floats) -> NDArray[Any]:
        moved = self.conversion.offsets(values)
        return moved if self.grid is None else self.grid.displacements(moved)

    def _turned(self, values: Floats, learned: bool) -> NDArray[Any]:
        rotated = self.conversion.directions(values)
        if self.grid is None or np.abs(rotated).max(initial=0.0) > 1:  # fractions are at most 1
            return rotated
        return whole(rotated, 127).astype(np.int8) if learned else whole(rotated)


def _mesh(vertices: _Vertices, name: str, pieces: Sequence[Piece], targets: list[Target]) -> Json:
    corners = vertices.rig.mesh.triangles
    look = vertices.look
    made: dict[tuple[int, int], list[Json]] = {}
    primitives = []
    for piece in pieces:
        rows = piece.vertices
        piece_corners = corners[piece.triangles] - rows.start
        if piece_corners.min() < 0 or piece_corners.max() >= _size(rows):
            raise InputError(f"look: expected triangles of the mesh {name!r} on its own vertices, got others")
        listed = piece_corners.astype(smallest_type(_size(rows))).reshape(-1)
        primitive = {"attributes": vertices.attributes(rows), "indices": vertices.output.add(listed, INDICES)}
        if look is None or not look.materials:
            primitive["material"] = 0
        elif piece.material >= 0:
            primitive["material"] = piece.material
        if targets:
            key = (rows.start, rows.stop)
            made.setdefault(key, [])
            made[key] = made[key] or vertices.targets(targets, rows)
            primitive["targets"] = made[key]
        primitives.append(primitive)
    if not targets:
        return {"name": name, "primitives": primitives}
    return {
        "name": name,
        "primitives": primitives,
        "weights": [target.shown for target in targets],
        "extras": {"targetNames": [target.name for target in targets]},
    }


def _require_all(pieces: Sequence[Piece], count: int) -> None:
    """Raise unless pieces have all of `count` vertices in their order: bones and detail number them."""
    spans = dict.fromkeys((piece.vertices.start, piece.vertices.stop) for piece in pieces)
    ends = [0, *(stop for _, stop in spans)]
    if [*(start for start, _ in spans), count] != ends:
        raise InputError("look: expected meshes that have triangles, their vertices one after the other, got others")


def _size(rows: slice) -> int:
    return int(rows.stop - rows.start)


def _moves(target: Target, rows: slice) -> bool:
    first, last = np.searchsorted(target.support, (rows.start, rows.stop))
    return any(offsets is not None and offsets[first:last].any() for offsets in (target.points, target.normals))


def _normals(rig: Rig, look: Look | None, conversion: Conversion, computed: bool) -> Floats:
    """Rest normals: those of the rig's file, where it has any and no target corrects the computed ones."""
    stored = None if look is None or computed else look.attributes.get("NORMAL")
    if stored is None:
        return rig.normals
    return np.where(stored.any(axis=1, keepdims=True), conversion.directions(stored), rig.normals)


def _influences(rig: Rig, bones: range) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Bones and weights (N, 4 k), strongest first, no bone twice, each row summing to one in single precision.

    `bones` are the joints of the rig that move vertices; the first of them is number 0.
    """
    joints, weights = rig.influences - bones.start, rig.weights.astype(np.float64)
    slots = weights.shape[1]
    for first in range(slots):
        for second in range(first + 1, slots):
            same = joints[:, first] == joints[:, second]
            weights[same, first] += weights[same, second]
            weights[same, second] = 0
    order = np.argsort(-weights, axis=1, kind="stable")
    joints, weights = np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1)
    used = int((weights > 0).any(axis=0).sum())
    wide = -(-used // 4) * 4
    single = np.zeros((len(weights), wide), np.float32)
    single[:, :used] = weights[:, :used]
    single[:, 0] = 1 - single[:, 1:].sum(axis=1, dtype=np.float64)
    small = np.uint8 if len(bones) <= 2**8 else np.uint16
    where = np.zeros(single.shape, small)
    where[:, :used] = joints[:, :used]
    return np.where(single > 0, where, 0).astype(small), single
