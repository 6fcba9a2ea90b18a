"""A skin as the compiled loops read it: vertices in blocks of eight, each with its bones and displacements.

A block lists every bone and every displacement column that any of its vertices has; a vertex without it has zeros
there. Neighbours mostly have the same, so vertices are put in an order that keeps neighbours together, unless the
order of the mesh already does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from posespace.check import Floats, Floats32
from posespace.geometry.morton import curve_order
from posespace.runtime.compiled import Ints32, Ints64
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.cpu.loops import BYTES, FLOATS, SHORTS, BlockTables
from posespace.runtime.drive.tables import TRANSFORM, DriverTables
from posespace.runtime.entries import Entries, bone_entries, normal_entries, point_entries
from posespace.skin.skin import Skin

# What a block costs, in units of one displacement column, as measured: a bone, and writing its points out of order.
_BONE, _SCATTER = 4.0, 3.0
# How far off whole-number sums may be: points as a fraction of the box's diagonal, normals of their length.
_TOLERANCE, _NORMAL_TOLERANCE = 5e-6, 1e-4
# Blocks that are posed in many poses while the cache holds them.
_TILE = 64
_STORED = {np.dtype(np.float32): FLOATS, np.dtype(np.int16): SHORTS, np.dtype(np.int8): BYTES}


class BlockEntries(NamedTuple):
    """Entries of blocks: those of block b are from starts[b] to starts[b + 1].

    Parameters
    ----------
    starts : (B + 1,) int32
    columns : (E,) int32, for a bone the index of its transform in a flat palette; or (E, 2), two per entry
    values : (E, 8) weights, (E, 3, 8) float32 displacements, or (E, 3, 8, 2) int16 or int8 ones, of two columns
    """

    starts: Ints32
    columns: Ints32
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Blocks:
    """A skin in blocks of eight vertices.

    Parameters
    ----------
    vertices : N
    order : (8 B,) int32, the vertex in each lane; unused lanes of the last block repeat its last vertex
    in_order : whether that is the order of the mesh
    rest, normals : (B, 3, 8) float32
    bones : joints and weights
    points, normal_points : displacements of the rest points and of the rest normals, in the type they are stored in;
        None where the skin has no corrections of normals
    scales, normal_scales : (C,) the length of one unit of each column's values
    most, normal_most : the largest sum of whole numbers of any vertex along one axis, 0 where they are floats
    """

    vertices: int
    order: Ints32
    in_order: bool
    rest: Floats32
    normals: Floats32
    bones: BlockEntries
    points: BlockEntries
    normal_points: BlockEntries | None
    scales: Floats
    normal_scales: Floats
    most: float
    normal_most: float

    @property
    def count(self) -> int:
        """B, how many blocks there are."""
        return len(self.rest)

    def shares(self, parts: int) -> Ints64:
        """Return (parts + 1,) the blocks at which to cut, so that all parts have equal work."""
        columns = self.points.columns.ndim * np.diff(self.points.starts)
        work = _SCATTER + _BONE * np.diff(self.bones.starts) + columns
        done = np.concatenate([[0.0], np.cumsum(work)])
        cuts = np.searchsorted(done, np.linspace(0, done[-1], parts + 1))
        cuts[-1] = self.count
        return cuts.astype(np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes that one frame of points reads and writes."""
        order = 0 if self.in_order else self.order.nbytes
        tables = [*self.bones, *self.points]
        return order + self.rest.nbytes + sum(array.nbytes for array in tables) + 12 * self.vertices


def blocks_of(skin: Skin, drivers: DriverTables) -> Blocks:
    """Lay a skin out in blocks; `drivers` have the columns of its layers."""
    rig = skin.rig
    count = len(rig.mesh.points)
    points, scales = point_entries(skin, drivers)
    normals, normal_scales = normal_entries(skin, drivers) or (None, np.ones(drivers.columns))
    bones = bone_entries(skin)
    order, in_order = _best_order(skin, bones, points, drivers.columns)
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    padded = np.concatenate([order, np.repeat(order[-1:], -count % LANES)]).astype(np.int32)
    blocks = len(padded) // LANES
    return Blocks(
        vertices=count,
        order=padded,
        in_order=in_order,
        rest=_in_blocks(rig.mesh.points, padded),
        normals=_in_blocks(rig.normals, padded),
        bones=_by_block(bones, rank, blocks, TRANSFORM),
        points=_paired(_by_block(points, rank, blocks, 1)),
        normal_points=None if normals is None else _paired(_by_block(normals, rank, blocks, 1)),
        scales=scales,
        normal_scales=normal_scales,
        most=_most(points, count),
        normal_most=0.0 if normals is None else _most(normals, count),
    )


def _best_order(skin: Skin, bones: Entries, points: Entries, columns: int) -> tuple[NDArray[np.int64], bool]:
    """The order of vertices with the least work per frame, and whether it is that of the mesh."""
    count = len(skin.rig.mesh.points)
    natural, curved = np.arange(count), curve_order(skin.rig.mesh.points, 16)
    costs = []
    for order in (natural, curved):
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count)
        costs.append(_BONE * _block_entries(bones, rank, skin.binding[2]) + _block_entries(points, rank, columns))
    in_order = costs[0] <= costs[1] + _SCATTER * (count / LANES)
    return (natural, True) if in_order else (curved, False)


def _block_entries(entries: Entries, rank: NDArray[np.int64], columns: int) -> int:
    """How many entries the blocks have if vertices stand in an order."""
    keys = rank[entries.vertices] // LANES * columns + entries.columns
    size = (len(rank) // LANES + 1) * columns
    if size > 8 * len(keys):
        return len(np.unique(keys))
    # Marking is far quicker than sorting.
    marked = np.zeros(size, np.bool_)
    marked[keys] = True
    return int(np.count_nonzero(marked))


def _in_blocks(values: Floats, order: Ints32) -> Floats32:
    """Per-vertex values (N, 3) as (B, 3, 8)."""
    grouped = values[order].reshape(-1, LANES, 3)
    blocks: Floats32 = _zeros((len(grouped), 3, LANES), np.float32)
    blocks[:] = np.swapaxes(grouped, 1, 2)
    return blocks


def _zeros(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros that begins at a cache line, so that no eight numbers of it straddle two."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    store = np.zeros(size + 64, np.uint8)
    first = -store.ctypes.data % 64
    return store[first : first + size].view(kind).reshape(shape)


def _by_block(entries: Entries, rank: NDArray[np.int64], blocks: int, stride: int) -> BlockEntries:
    """Sort entries by block; columns are multiplied by `stride`."""
    block, lane = np.divmod(rank[entries.vertices], LANES)
    width = int(entries.columns.max(initial=0)) + 1
    keys, index = np.unique(block * width + entries.columns, return_inverse=True)
    values = _zeros((len(keys), *entries.values.shape[1:], LANES), entries.values.dtype)
    if entries.values.ndim == 1:
        np.add.at(values, (index.ravel(), lane), entries.values)  # A vertex may name one joint twice.
    else:
        values[index.ravel(), :, lane] = entries.values
    starts = np.searchsorted(keys, np.arange(blocks + 1) * width).astype(np.int32)
    used = (len(rank) - 1) % LANES + 1
    if blocks:  # Unused lanes repeat the last vertex.
        values[starts[-2] :, ..., used:] = values[starts[-2] :, ..., used - 1, None]
    return BlockEntries(starts, (keys % width * stride).astype(np.int32), values)


def _paired(entries: BlockEntries) -> BlockEntries:
    """Put two columns in each entry, as whole numbers are multiplied and added two at a time."""
    starts, columns, values = entries
    if values.dtype == np.float32:
        return entries
    lengths = np.diff(starts)
    firsts = np.concatenate([[0], np.cumsum((lengths + 1) // 2)])
    rank = np.arange(len(columns)) - np.repeat(starts[:-1], lengths)
    entry, half = np.repeat(firsts[:-1], lengths) + rank // 2, rank % 2
    paired = np.zeros((int(firsts[-1]), 2), np.int32)
    paired[entry, half] = columns
    mixed = _zeros((len(paired), *values.shape[1:], 2), values.dtype)
    mixed[entry, ..., half] = values
    return BlockEntries(firsts.astype(np.int32), paired, mixed)


def _most(entries: Entries, vertices: int) -> float:
    """The largest sum over columns, at any vertex and in any axis, of the sizes of whole numbers."""
    if entries.values.dtype == np.float32:
        return 0.0
    sizes = np.abs(entries.values.astype(np.float64))
    sums = [np.bincount(entries.vertices, axis, minlength=vertices).max(initial=0.0) for axis in sizes.T]
    return float(max(sums))


def block_tables(blocks: Blocks, diagonal: float, linear: bool) -> BlockTables:
    """Return what the loops read of a skin's blocks.

    Parameters
    ----------
    blocks : of the skin
    diagonal : of its box
    linear : whether bones are blended linearly; else every vertex is on one bone that stays at rest
    """
    bones = blocks.bones if linear else _one_bone(blocks.count)
    points, normals = blocks.points, blocks.normal_points or _no_entries(blocks.count)
    tolerance = _TOLERANCE * max(diagonal, 1e-30)
    return BlockTables(
        rest=blocks.rest,
        normals=blocks.normals,
        order=blocks.order,
        ordered=blocks.vertices // LANES if blocks.in_order else 0,
        bone_starts=bones.starts,
        bones=bones.columns,
        weights=bones.values,
        stored=_STORED[points.values.dtype],
        starts=points.starts,
        columns=points.columns.ravel(),
        values=points.values.reshape(-1).view(np.uint8),
        normals_stored=_STORED[normals.values.dtype],
        normal_starts=normals.starts,
        normal_columns=normals.columns.ravel(),
        normal_values=normals.values.reshape(-1).view(np.uint8),
        scales=np.stack([blocks.scales, blocks.normal_scales]),
        bounds=np.array([[blocks.most, tolerance], [blocks.normal_most, _NORMAL_TOLERANCE]]),
    )


def tiles(blocks: Blocks) -> Ints64:
    """Return the blocks at which to cut, so that the tables of a part fit in the cache."""
    return np.append(np.arange(0, blocks.count, _TILE), blocks.count).astype(np.int64)


def _one_bone(blocks: int) -> BlockEntries:
    starts = np.arange(blocks + 1, dtype=np.int32)
    return BlockEntries(starts, np.zeros(blocks, np.int32), np.ones((blocks, LANES), np.float32))


def _no_entries(blocks: int) -> BlockEntries:
    zeros = np.zeros(blocks + 1, np.int32)
    return BlockEntries(zeros, np.zeros(0, np.int32), np.zeros((0, 3, LANES), np.float32))
