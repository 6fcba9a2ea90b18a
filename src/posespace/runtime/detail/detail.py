"""Detail, the third stage of any player: the posed surface subdivided and moved along its normals, on the processor."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints64, on_all_cores, relaxed
from posespace.runtime.cpu.lanes import LANES
from posespace.runtime.cpu.rows import ROW
from posespace.runtime.detail.loops import (
    BYTES,
    FLOATS,
    SHORTS,
    Heights,
    Room,
    coarse_areas,
    raise_points,
    refine,
    share,
    sum_hubs,
    sum_patches,
    take,
    write_normals,
)
from posespace.runtime.detail.patches import Patches, patches_of
from posespace.runtime.entries import owned
from posespace.skin.detail import Detail
from posespace.skin.skin import Skin

_STORED = {np.dtype(np.float32): FLOATS, np.dtype(np.int16): SHORTS, np.dtype(np.int8): BYTES}
# The steps of a frame, each done before the next begins.
_TAKE, _AREAS, _HUBS, _PATCHES, _REFINE = range(5)
_NO_NORMALS = np.zeros((0, 3), np.float32)


class PosedDetail:
    """The detail of a skin.

    Parameters
    ----------
    skin : the skin, whose rig's mesh is subdivided
    detail : its detail
    first : where the detail's coordinates begin among all; -1 where learned bones drive it
    threads : how many cores work on a frame

    Attributes
    ----------
    nbytes : bytes that a frame reads and writes
    """

    def __init__(self, skin: Skin, detail: Detail, first: int, threads: int) -> None:
        # All work is in an order in which neighbours are near each other; what is written last is in the skin's order.
        self._patches, self._windows = patches_of(skin, detail.levels)
        heights = detail.heights if detail.heights.dtype.kind == "i" else detail.heights.astype(np.float32)
        self._scales = np.ones(len(heights)) if detail.scales is None else detail.scales.astype(np.float64)
        influences, weights = np.zeros((0, 1), np.int32), np.zeros((0, 1), np.float32)
        self._first = first
        if detail.driver is None:
            binding, coarse_order = skin.binding, self._patches.coarse_order
            influences = owned("bones' influences", binding.influences[coarse_order], binding.bone_count)
            weights = binding.weights[coarse_order].astype(np.float32)
            self._first = skin.bones.correction_count
        values = _in_blocks(heights[:, self._patches.order])
        stored = _STORED[heights.dtype]
        self._heights = Heights(stored, len(heights), values.reshape(-1).view(np.uint8), influences, weights)
        between = range(_REFINE, _REFINE + len(self._patches.rounds) - 1)
        hubs = [_HUBS] if len(self._patches.flat_hubs) else []
        self._steps = _TAKE, *between, _AREAS, *hubs, _PATCHES
        self._parts = self._windows.parts(threads)
        self._make_room()
        tables: list[NDArray[Any]] = [values, influences, weights]
        shapes = 12 * (2 * len(skin.mesh.points) + len(skin.rig.mesh.points))
        tables += [table for table in self._patches if isinstance(table, np.ndarray)]
        self.nbytes = shapes + sum(table.nbytes for table in tables) + 2 * sum(table.nbytes for table in self._room)

    def _make_room(self) -> None:
        patches, heights, before = self._patches, self._heights, self._patches.rounds[-1]
        width = -(-heights.components // LANES) * LANES
        parts, windows, hubs = len(self._parts), self._windows, len(patches.sum_hub_starts) - 1
        self._room = Room(
            points=np.zeros((before, ROW), np.float32),
            shares=np.zeros((before if len(heights.weights) else 1, width), np.float32),
            areas=np.zeros((len(patches.corners) * LANES + 1 + hubs, ROW), np.float32),
            raised=np.zeros((parts, windows.raised, ROW), np.float32),
            sums=np.zeros((parts, windows.sums + 1 + hubs, ROW), np.float32),
        )

    def clone(self) -> PosedDetail:
        """Return the same with its own room to work in, for another thread."""
        other = copy(self)
        other._make_room()
        return other

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._parts = self._windows.parts(1)

    def add(
        self,
        coarse: Floats32,
        coordinates: Floats,
        points: Floats32,
        normals: Floats32 | None,
        amounts: Floats32 | None = None,
    ) -> None:
        """Write the fine points, and their normals if asked for, from the coarse points and all coordinates.

        Detail that learned bones drive takes their `amounts` (B, K + D) instead of coordinates.
        """
        count, first = self._heights.components, self._first
        numbers = coordinates[None] if amounts is None or not len(self._heights.weights) else amounts
        padded = np.zeros((len(numbers), self._room.shares.shape[1]), np.float32)
        padded[:, :count] = numbers[:, first : first + count] * self._scales
        frame = Frame(coarse, padded, points, _NO_NORMALS if normals is None else normals)
        tables = self._parts, self._patches, self._heights, self._room, frame
        for step in self._steps:
            if len(self._parts) > 1:
                _share_work(step, *tables)
            else:
                _work(step, 0, *tables)


def _in_blocks(heights: NDArray[Any]) -> NDArray[Any]:
    """Heights (C, 8 V) as (V, C, 8)."""
    return np.ascontiguousarray(heights.reshape(len(heights), -1, LANES).transpose(1, 0, 2))


class Frame(NamedTuple):
    """What a frame is computed from, and where it is written.

    Parameters
    ----------
    coarse : (N, 3) the posed coarse points
    amounts : (B, W) of the components in each bone, or (1, W) in all vertices
    points, normals : (F, 3) to write to; normals (0, 3) where none are asked for
    """

    coarse: Floats32
    amounts: Floats32
    points: Floats32
    normals: Floats32


@relaxed
def _work(
    step: int, part: int, parts: Ints64, patches: Patches, heights: Heights, room: Room, frame: Frame
) -> None:  # pragma: no cover - compiled
    """Do one of the parts of a step; steps from _REFINE on are the levels of subdivision but the last."""
    count, rounds, triangles = len(parts), patches.rounds, len(patches.corners)
    if step == _TAKE:
        begin, end = part * rounds[0] // count, (part + 1) * rounds[0] // count
        take(begin, end, patches.coarse_order, frame.coarse, room.points)
        if len(heights.weights) > 0:
            share(begin, end, heights, frame.amounts, room.shares)
        else:
            room.shares[0] = frame.amounts[0]
    elif step == _AREAS:
        begin, end = part * triangles // count, (part + 1) * triangles // count
        coarse_areas(begin, end, patches.corners, room.points, room.areas)
    elif step == _HUBS:
        hubs = len(patches.flat_hub_starts) - 1
        begin, end = part * hubs // count, (part + 1) * hubs // count
        sum_hubs(begin, end, patches.flat_hub_starts, patches.flat_hubs, room.areas)
    elif step == _PATCHES:
        _work_in_tiles(part, parts, patches, heights, room, frame)
    else:
        first, last = rounds[step - _REFINE], rounds[step - _REFINE + 1]
        begin, end = first + part * (last - first) // count, first + (part + 1) * (last - first) // count
        refine(begin, end, rounds[0], patches.middles, room.points)
        if len(heights.weights) > 0:
            refine(begin, end, rounds[0], patches.middles, room.shares)


@relaxed
def _work_in_tiles(
    part: int, parts: Ints64, patches: Patches, heights: Heights, room: Room, frame: Frame
) -> None:  # pragma: no cover - compiled
    """Raise the points of a part and write their normals, tile by tile."""
    raise_ends, finish_ends, triangles = patches.raise_ends, patches.finish_ends, len(patches.corners)
    raised, sums, size = room.raised[part], room.sums[part], patches.tile
    begin, middle, end = parts[part, 0], parts[part, 1], parts[part, 2]
    to_raise = finish_ends[begin - 1] if begin > 0 else 0
    to_finish = finish_ends[middle - 1] if middle > 0 else 0
    to_sum = patches.hub_ends[middle - 1] if middle > 0 else 0
    for tile in range(begin, end):
        raise_points(to_raise, raise_ends[tile], patches, heights, room, raised, frame.points)
        to_raise = max(to_raise, raise_ends[tile])
        if len(frame.normals) > 0:
            sum_patches(tile * size, min((tile + 1) * size, triangles), patches, raised, sums)
            if tile >= middle:
                sum_hubs(to_sum, patches.hub_ends[tile], patches.sum_hub_starts, patches.sum_hubs, sums)
                to_sum = patches.hub_ends[tile]
                write_normals(to_finish, finish_ends[tile], patches, sums, frame.normals)
                to_finish = finish_ends[tile]


@on_all_cores
def _share_work(
    step: int, parts: Ints64, patches: Patches, heights: Heights, room: Room, frame: Frame
) -> None:  # pragma: no cover - compiled
    """Do all parts of a step."""
    for part in prange(len(parts)):
        _work(step, np.int64(part), parts, patches, heights, room, frame)  # type: ignore[arg-type]
