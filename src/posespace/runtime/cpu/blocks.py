"""A skin as the compiled loops read it: vertices in blocks of eight, each with its bones and displacements.

A block lists every bone and every displacement column that one of its vertices has; a vertex that lacks it has zeros
there. Neighbours mostly have the same, so vertices are put in an order that keeps neighbours together, unless the
order of the mesh does so already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from posespace.basis import PackedBasis
from posespace.check import Floats, Floats32
from posespace.geometry.morton import curve_order
from posespace.layer import Basis
from posespace.rig import Rig
from posespace.runtime.cpu.lanes import LANES
from posespace.skin import Skin

Ints32 = NDArray[np.int32]

# What a block costs, in units of one displacement column, as measured: a bone, and writing its points out of order.
_BONE, _SCATTER = 4.0, 3.0


class Entries(NamedTuple):
    """Numbers of some vertices: (E,) the vertex, (E,) the column, (E, ...) the value."""

    vertices: NDArray[np.integer]
    columns: NDArray[np.integer]
    values: NDArray[Any]


class Table(NamedTuple):
    """Entries of blocks: those of block b are from starts[b] to starts[b + 1].

    Parameters
    ----------
    starts : (B + 1,) int32
    columns : (E,) int32, of a bone the place of its transform in a flat palette; or (E, 2), two to an entry
    values : (E, 8) weights, (E, 3, 8) float32 displacements, or (E, 3, 8, 2) int16 or int8 ones, of two columns
    """

    starts: Ints32
    columns: Ints32
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Layout:
    """The tables of a skin's vertices.

    Parameters
    ----------
    vertices : N
    order : (8 B,) int32, the vertex in each lane; the lanes that are left over in the last block repeat its last vertex
    in_order : whether that is the order of the mesh
    rest, normals : (B, 3, 8) float32
    bones : joints and weights
    points, normal_points : displacements of the rest points and of the rest normals, in the type they are stored in;
        None where the skin has no corrections of normals
    scales, normal_scales : (C,) the length of one unit of each column's values
    most, normal_most : the largest sum of whole numbers that a vertex has in one axis, 0 where they are not whole
    """

    vertices: int
    order: Ints32
    in_order: bool
    rest: Floats32
    normals: Floats32
    bones: Table
    points: Table
    normal_points: Table | None
    scales: Floats
    normal_scales: Floats
    most: float
    normal_most: float

    @property
    def blocks(self) -> int:
        """B, how many blocks there are."""
        return len(self.rest)

    def shares(self, parts: int) -> NDArray[np.int64]:
        """Return (parts + 1,) the blocks at which to cut, so that each part has as much work."""
        columns = self.points.columns.ndim * np.diff(self.points.starts)
        work = _SCATTER + _BONE * np.diff(self.bones.starts) + columns
        done = np.concatenate([[0.0], np.cumsum(work)])
        cuts = np.searchsorted(done, np.linspace(0, done[-1], parts + 1))
        cuts[-1] = self.blocks
        return cuts.astype(np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes that one frame of points reads and writes."""
        order = 0 if self.in_order else self.order.nbytes
        tables = [*self.bones, *self.points]
        return order + self.rest.nbytes + sum(array.nbytes for array in tables) + 12 * self.vertices


def layout_of(skin: Skin, first_columns: list[int], normal_columns: list[int], columns: int) -> Layout:
    """Lay a skin out.

    Parameters
    ----------
    skin : what is laid out
    first_columns, normal_columns : where each layer's coordinates begin, those of its points and of its normals
    columns : how many there are in all
    """
    rig = skin.rig
    count = len(rig.mesh.points)
    points, scales = displacement_entries(
        [(layer.support, layer.basis) for layer in skin.layers], first_columns, columns
    )
    corrected = [
        (layer.support, layer.normal_basis, start)
        for layer, start in zip(skin.layers, normal_columns, strict=True)
        if layer.normal_basis is not None
    ]
    normals, normal_scales = displacement_entries(
        [entry[:2] for entry in corrected], [entry[2] for entry in corrected], columns
    )
    bones = bone_entries(rig)
    order, in_order = _best_order(rig, bones, points, columns)
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    padded = np.concatenate([order, np.repeat(order[-1:], -count % LANES)]).astype(np.int32)
    blocks = len(padded) // LANES
    return Layout(
        vertices=count,
        order=padded,
        in_order=in_order,
        rest=_in_blocks(rig.mesh.points, padded),
        normals=_in_blocks(rig.normals, padded),
        bones=_tabled(bones, rank, blocks, 12),
        points=_paired(_tabled(points, rank, blocks, 1)),
        normal_points=_paired(_tabled(normals, rank, blocks, 1)) if corrected else None,
        scales=scales,
        normal_scales=normal_scales,
        most=_most(points, count),
        normal_most=_most(normals, count),
    )


def bone_entries(rig: Rig) -> Entries:
    """Each vertex's joints and weights, those of zero left out."""
    vertices, slots = np.nonzero(rig.weights)
    return Entries(vertices, rig.influences[vertices, slots], rig.weights[vertices, slots].astype(np.float32))


def displacement_entries(
    layers: list[tuple[NDArray[np.integer], Basis]], first_columns: list[int], columns: int
) -> tuple[Entries, Floats]:
    """All layers' displacements in one type, with the scale of each column: what is stored small stays small."""
    parts = [basis if isinstance(basis, PackedBasis) else PackedBasis.pack(basis, 32) for _, basis in layers]
    kinds = {part.values.dtype.type for part in parts}
    kind = kinds.pop() if len(kinds) == 1 else np.float32 if np.float32 in kinds or not kinds else np.int16
    scales = np.ones(columns)
    found = [Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 3), kind))]
    for (support, _), part, start in zip(layers, parts, first_columns, strict=True):
        own = np.repeat(np.arange(len(part.scales)), np.diff(part.starts))
        found.append(Entries(support[part.rows], start + own, part.values.astype(kind)))
        scales[start : start + len(part.scales)] = part.scales
    return Entries(*(np.concatenate(each) for each in zip(*found, strict=True))), scales


def _best_order(rig: Rig, bones: Entries, points: Entries, columns: int) -> tuple[NDArray[np.int64], bool]:
    """The order of vertices with the least work a frame, and whether it is the mesh's own."""
    count = len(rig.mesh.points)
    natural, near = np.arange(count), curve_order(rig.mesh.points, 16)
    costs = []
    for order in (natural, near):
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count)
        costs.append(_BONE * _block_entries(bones, rank, len(rig.skeleton)) + _block_entries(points, rank, columns))
    own = costs[0] <= costs[1] + _SCATTER * (count / LANES)
    return (natural, True) if own else (near, False)


def _block_entries(entries: Entries, rank: NDArray[np.int64], columns: int) -> int:
    return len(np.unique(rank[entries.vertices] // LANES * columns + entries.columns))


def _in_blocks(values: Floats, order: Ints32) -> Floats32:
    """Per-vertex values (N, 3) as (B, 3, 8)."""
    grouped = values[order].reshape(-1, LANES, 3)
    found: Floats32 = _zeros((len(grouped), 3, LANES), np.float32)
    found[:] = np.swapaxes(grouped, 1, 2)
    return found


def _zeros(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros that begins at a line of the cache, so that no eight numbers of it lie in two."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    store = np.zeros(size + 64, np.uint8)
    first = -store.ctypes.data % 64
    return store[first : first + size].view(kind).reshape(shape)


def _tabled(entries: Entries, rank: NDArray[np.int64], blocks: int, stride: int) -> Table:
    """Entries as a table of blocks; columns are multiplied by `stride`."""
    block, lane = np.divmod(rank[entries.vertices], LANES)
    width = int(entries.columns.max(initial=0)) + 1
    keys, place = np.unique(block * width + entries.columns, return_inverse=True)
    values = _zeros((len(keys), *entries.values.shape[1:], LANES), entries.values.dtype)
    if entries.values.ndim == 1:
        np.add.at(values, (place.ravel(), lane), entries.values)  # A vertex may name one joint twice.
    else:
        values[place.ravel(), :, lane] = entries.values
    starts = np.searchsorted(keys, np.arange(blocks + 1) * width).astype(np.int32)
    used = (len(rank) - 1) % LANES + 1
    if blocks:  # The lanes left over repeat the last vertex.
        values[starts[-2] :, ..., used:] = values[starts[-2] :, ..., used - 1, None]
    return Table(starts, (keys % width * stride).astype(np.int32), values)


def _paired(table: Table) -> Table:
    """Put two columns in an entry, for whole numbers are multiplied and added two at a time."""
    starts, columns, values = table
    if values.dtype == np.float32:
        return table
    lengths = np.diff(starts)
    firsts = np.concatenate([[0], np.cumsum((lengths + 1) // 2)])
    place = np.arange(len(columns)) - np.repeat(starts[:-1], lengths)
    entry, half = np.repeat(firsts[:-1], lengths) + place // 2, place % 2
    paired = np.zeros((int(firsts[-1]), 2), np.int32)
    paired[entry, half] = columns
    mixed = _zeros((len(paired), *values.shape[1:], 2), values.dtype)
    mixed[entry, ..., half] = values
    return Table(firsts.astype(np.int32), paired, mixed)


def _most(entries: Entries, vertices: int) -> float:
    """The largest sum over columns, at any vertex and in any axis, of the sizes of whole numbers."""
    if entries.values.dtype == np.float32:
        return 0.0
    sizes = np.abs(entries.values.astype(np.float64))
    sums = [np.bincount(entries.vertices, axis, minlength=vertices).max(initial=0.0) for axis in sizes.T]
    return float(max(sums))
