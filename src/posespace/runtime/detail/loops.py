"""The compiled loops over a subdivided surface: its points raised along normals, then the normals of what results.

All of them work on eight vertices or triangles at once. Points are in rows of four numbers, see `runtime.cpu.rows`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats32
from posespace.runtime.compiled import Ints32, inlined, inlined_exactly, relaxed
from posespace.runtime.cpu.lanes import (
    LANES,
    as_bytes,
    as_floats,
    as_shorts,
    fma,
    inverse_of_largest,
    load,
    minus,
    pick,
    plus,
    put,
    root_inverse,
    scatter,
    splat,
    times,
)
from posespace.runtime.cpu.rows import ROW, gather, put_rows
from posespace.runtime.detail.patches import Patches
from posespace.runtime.pointers import Pointer, after, pointer

FLOATS, SHORTS, BYTES = range(3)
"""How heights are stored. It is a number, not a type: so the loops are compiled once for all three."""


class Heights(NamedTuple):
    """Heights in blocks of eight vertices.

    Parameters
    ----------
    stored : their type
    components : C, how many there are
    values : bytes of (V, C, 8) numbers
    influences, weights : (N, K) int32 and float32, the bones whose amounts each coarse vertex has, and how much of
        each; empty where all vertices have the same
    """

    stored: int
    components: int
    values: NDArray[np.uint8]
    influences: Ints32
    weights: Floats32


class Room(NamedTuple):
    """What is computed on the way, one row per vertex, triangle or slot.

    Parameters
    ----------
    points : (L, 4) of all levels but the last
    shares : (L, W) each vertex' amounts of the components, W is C or a little more; or (1, W), of all vertices
    areas : (8 T + 1 + H, 4) area vectors of the coarse triangles, zero, and the sums of hubs
    raised : (parts, R, 4) points of the last level with heights, a window of them for each part of the work
    sums : (parts, S + 1 + H, 4) what patches add to the normals of their vertices, a window of them, zero, and the sums
        of hubs
    """

    points: Floats32
    shares: Floats32
    areas: Floats32
    raised: Floats32
    sums: Floats32


@relaxed
def take(begin: int, end: int, order: Ints32, coarse: Floats32, out: Floats32) -> None:  # pragma: no cover - compiled
    """Write some coarse points (N, 3) in the order of the patches."""
    rows, points, numbers = pointer(out), pointer(coarse), pointer(order)
    for vertex in range(begin, end):
        at = 3 * np.int64(numbers[vertex])
        for axis in range(3):
            rows[ROW * vertex + axis] = points[at + axis]


@relaxed
def share(
    begin: int, end: int, heights: Heights, amounts: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write some coarse vertices' shares (N, W): the weighted amounts (B, W) of their bones."""
    bones, weights, slots = pointer(heights.influences), pointer(heights.weights), heights.weights.shape[1]
    rows, shares, width = pointer(amounts), pointer(out), out.shape[1]
    for vertex in range(begin, end):
        for first in range(0, width, LANES):
            total = splat(0.0)
            for slot in range(vertex * slots, (vertex + 1) * slots):
                total = fma(load(rows, bones[slot] * width + first), splat(weights[slot]), total)
            put(shares, vertex * width + first, total)


@relaxed
def refine(begin: int, end: int, first: int, middles: Ints32, out: Floats32) -> None:  # pragma: no cover - compiled
    """Write rows (L, W) of some vertices, halfway between two others: from row `first` on there is one per middle."""
    half, width = np.float32(0.5), out.shape[1]
    for row in range(begin, end):
        a, b = middles[row - first, 0], middles[row - first, 1]
        for k in range(width):
            out[row, k] = half * (out[a, k] + out[b, k])


@relaxed
def coarse_areas(
    begin: int, end: int, corners: Ints32, points: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the area vectors of some blocks of coarse triangles."""
    rows, vertices, areas = pointer(points), pointer(corners), pointer(out)
    for block in range(begin, end):
        a = gather(rows, ROW, vertices, 3 * LANES * block)
        b = gather(rows, ROW, vertices, 3 * LANES * block + LANES)
        c = gather(rows, ROW, vertices, 3 * LANES * block + 2 * LANES)
        x, y, z = _area(a, b, c)
        put_rows(areas, LANES * block, x, y, z)


@relaxed
def sum_hubs(
    begin: int, end: int, starts: Ints32, places: Ints32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the sums of some hubs, the last rows (R, 4) of all, from the rows that they name."""
    first = len(out) - len(starts) + 1
    for hub in range(begin, end):
        x = y = z = np.float32(0.0)
        for entry in range(starts[hub], starts[hub + 1]):
            row = places[entry]
            x, y, z = x + out[row, 0], y + out[row, 1], z + out[row, 2]
        out[first + hub, 0], out[first + hub, 1], out[first + hub, 2] = x, y, z


@inlined_exactly
def _area(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """The area vectors of triangles a b c; exactly zero where two corners are the same."""
    ux, uy, uz = minus(b[0], a[0]), minus(b[1], a[1]), minus(b[2], a[2])
    vx, vy, vz = minus(c[0], a[0]), minus(c[1], a[1]), minus(c[2], a[2])
    x = minus(times(uy, vz), times(uz, vy))
    y = minus(times(uz, vx), times(ux, vz))
    z = minus(times(ux, vy), times(uy, vx))
    return x, y, z


@inlined
def _unit(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """Vectors at unit length; (0, 0, 1) for those of none. They are made small first, to stay clear of the limits."""
    small = inverse_of_largest(x, y, z)
    x, y, z = times(x, small), times(y, small), times(z, small)
    length = root_inverse(fma(x, x, fma(y, y, times(z, z))))
    zero = splat(0.0)
    return (
        pick(length, times(x, length), zero),
        pick(length, times(y, length), zero),
        pick(length, times(z, length), splat(1.0)),
    )


@inlined
def _normal(rows: Pointer, starts: Pointer, places: Pointer, block: int) -> Any:  # pragma: no cover - compiled
    """The unit normals of a block of vertices: sums of the rows that they name."""
    x = y = z = splat(0.0)
    for entry in range(starts[block], starts[block + 1]):
        p, q, r, _ = gather(rows, ROW, places, LANES * entry)
        x, y, z = plus(x, p), plus(y, q), plus(z, r)
    return _unit(x, y, z)


@relaxed
def raise_points(
    begin: int, end: int, patches: Patches, heights: Heights, room: Room, window: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write some blocks' points with heights along the normals of the flat surface, to a window and to `out` (F, 3)."""
    rows, areas, raised, kept = pointer(room.points), pointer(room.areas), pointer(window), len(window)
    starts, flat, ends = pointer(patches.flat_starts), pointer(patches.flat), pointer(patches.ends)
    order, points, half = pointer(patches.order), pointer(out), splat(0.5)
    for block in range(begin, end):
        x, y, z = _normal(areas, starts, flat, block)
        height = _height(block, heights, ends, room)
        a = gather(rows, ROW, ends, 2 * LANES * block)
        b = gather(rows, ROW, ends, 2 * LANES * block + LANES)
        x = fma(x, height, times(half, plus(a[0], b[0])))
        y = fma(y, height, times(half, plus(a[1], b[1])))
        z = fma(z, height, times(half, plus(a[2], b[2])))
        put_rows(raised, LANES * block % kept, x, y, z)
        scatter(points, order, LANES * block, x, y, z)


@inlined
def _height(block: int, heights: Heights, ends: Pointer, room: Room) -> Any:  # pragma: no cover - compiled
    """The heights of a block of vertices."""
    shares, width, count, values = (
        pointer(room.shares),
        room.shares.shape[1],
        heights.components,
        pointer(heights.values),
    )
    at = block * count * LANES
    if len(room.shares) == 1:
        if heights.stored == FLOATS:
            return _of_one(after(as_floats(values), at), count, shares)
        if heights.stored == SHORTS:
            return _of_one(after(as_shorts(values), at), count, shares)
        return _of_one(after(as_bytes(values), at), count, shares)
    ends = after(ends, 2 * LANES * block)
    if heights.stored == FLOATS:
        return _of_each(after(as_floats(values), at), count, shares, width, ends)
    if heights.stored == SHORTS:
        return _of_each(after(as_shorts(values), at), count, shares, width, ends)
    return _of_each(after(as_bytes(values), at), count, shares, width, ends)


@inlined
def _of_one(values: Pointer, count: int, shares: Pointer) -> Any:  # pragma: no cover - compiled
    """Heights by amounts that all vertices have."""
    total = splat(0.0)
    for k in range(count):
        total = fma(load(values, k * LANES), splat(shares[k]), total)
    return total


@inlined
def _of_each(values: Pointer, count: int, shares: Pointer, width: int, ends: Pointer) -> Any:  # pragma: no cover
    """Heights by amounts halfway between those of two vertices."""
    total = splat(0.0)
    for first in range(0, count, ROW):
        a, b = gather(after(shares, first), width, ends, 0), gather(after(shares, first), width, ends, LANES)
        at = first * LANES
        total = fma(load(values, at), plus(a[0], b[0]), total)
        if first + 1 < count:
            total = fma(load(values, at + LANES), plus(a[1], b[1]), total)
        if first + 2 < count:
            total = fma(load(values, at + 2 * LANES), plus(a[2], b[2]), total)
        if first + 3 < count:
            total = fma(load(values, at + 3 * LANES), plus(a[3], b[3]), total)
    return times(total, splat(0.5))


@relaxed
def sum_patches(
    begin: int, end: int, patches: Patches, raised: Floats32, window: Floats32
) -> None:  # pragma: no cover - compiled
    """Write what some blocks of patches add to the normals of their vertices: areas of the fine triangles there."""
    points, vertices, out = pointer(raised), pointer(patches.vertices), pointer(window)
    kept = len(window) - len(patches.sum_hub_starts)
    slots, triangles = patches.vertices.shape[1], pointer(patches.pattern)
    patch_points, patch_sums = np.empty((slots, 3, LANES), np.float32), np.empty((slots, 3, LANES), np.float32)
    for block in range(begin, end):
        # Inside of the loop, so that the arrays live as long as their pointers.
        local, sums = pointer(patch_points), pointer(patch_sums)
        for slot in range(slots):
            x, y, z, _ = gather(points, ROW, vertices, (block * slots + slot) * LANES)
            _put(local, slot, x, y, z)
            _put(sums, slot, splat(0.0), splat(0.0), splat(0.0))
        for triangle in range(len(patches.pattern)):
            a, b, c = triangles[3 * triangle], triangles[3 * triangle + 1], triangles[3 * triangle + 2]
            x, y, z = _area(_get(local, a), _get(local, b), _get(local, c))
            for slot in (a, b, c):
                p, q, r = _get(sums, slot)
                _put(sums, slot, plus(p, x), plus(q, y), plus(r, z))
        for slot in range(slots):
            x, y, z = _get(sums, slot)
            put_rows(out, (block * slots + slot) * LANES % kept, x, y, z)


@inlined
def _get(blocks: Pointer, block: int) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    at = 3 * LANES * block
    return load(blocks, at), load(blocks, at + LANES), load(blocks, at + 2 * LANES)


@inlined
def _put(blocks: Pointer, block: int, x: Any, y: Any, z: Any) -> None:  # pragma: no cover - compiled
    at = 3 * LANES * block
    put(blocks, at, x)
    put(blocks, at + LANES, y)
    put(blocks, at + 2 * LANES, z)


@relaxed
def write_normals(
    begin: int, end: int, patches: Patches, sums: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the unit normals (F, 3) of some blocks of vertices from what the patches add."""
    rows, starts, places = pointer(sums), pointer(patches.sum_starts), pointer(patches.sums)
    order, normals = pointer(patches.order), pointer(out)
    for block in range(begin, end):
        x, y, z = _normal(rows, starts, places, block)
        scatter(normals, order, LANES * block, x, y, z)
