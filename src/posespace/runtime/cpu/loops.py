"""The compiled loops over blocks of vertices: displacements added, bones blended, points and normals written."""
# ruff: noqa: ARG001 - the forms of `displacement` take the same arguments, whether they need them or not.

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints32, compiled, inlined, relaxed
from posespace.runtime.cpu.blocks import BlockEntries
from posespace.runtime.cpu.lanes import (
    LANES,
    add_products,
    as_lanes,
    fma,
    load,
    load_pairs,
    minus,
    no_sums,
    pick,
    root_inverse,
    scatter,
    splat,
    store,
    times,
)
from posespace.runtime.pointers import Pointer, pointer

_BLOCK = 3 * LANES
# The largest sum of whole numbers, with room for rounding.
_WHOLE = 2.0**31 * (1 - 1e-4)


class Frame(NamedTuple):
    """What a frame computes on the way; a player makes it once.

    Parameters
    ----------
    scratch, palette, coordinates : see `drive`
    factors : (2, C) float32, what the columns of the points and of the normals are multiplied by
    halves : (2, 2, C) int32, the same as whole numbers, in the low and in the high half
    """

    scratch: Floats
    palette: Floats32
    coordinates: Floats
    factors: Floats32
    halves: NDArray[np.int32]


class BlockBasis(NamedTuple):
    """Displacements of blocks: their table, the scales of the columns (C,), and (2,) the largest sum of whole numbers
    at a vertex and how far off the result may be.
    """

    entries: BlockEntries
    scales: Floats
    bounds: Floats


class RestBlocks(NamedTuple):
    """The rest shape and its bones: rest (B, 3, 8), rest normals (B, 3, 8), the vertex of each lane (8 B,), how many
    blocks are in the mesh's order (1,), the blocks at which to cut for several cores, and the bones.
    """

    rest: Floats32
    normals: Floats32
    order: Ints32
    full: NDArray[np.int64]
    cuts: NDArray[np.int64]
    bones: BlockEntries


@compiled
def factor(
    scales: Floats, bounds: Floats, which: int, frame: Frame
) -> tuple[float, bool]:  # pragma: no cover - compiled
    """Turn coordinates into factors of stored displacements; return the unit of whole factors, and if floats are used.

    `scales` and `bounds` are those of a `BlockBasis`. Sums of whole numbers must neither overflow nor exceed the
    tolerance; otherwise the factors are used as they are.
    """
    largest = 0.0
    for k in range(len(scales)):
        value = frame.coordinates[k] * scales[k]
        frame.factors[which, k] = value
        largest = max(largest, abs(value))
    most, tolerance = bounds
    unit = largest * max(most / _WHOLE, 1 / 32767)
    if not (most > 0.0 and unit > 0.0 and 0.5 * unit * most <= tolerance):
        return 0.0, True
    for k in range(len(scales)):
        whole = np.int32(math.floor(frame.factors[which, k] / unit + 0.5))
        frame.halves[which, 0, k] = whole & 0xFFFF
        frame.halves[which, 1, k] = whole << 16
    return unit, False


def displacement(
    starts: Ints32,
    columns: Ints32,
    values: Any,
    block: int,
    factors: Floats32,
    low: Ints32,
    high: Ints32,
    unit: float,
    exact: bool,
) -> tuple[Any, Any, Any]:
    """Return a block's displacement, three times eight numbers; for compiled code only."""
    raise NotImplementedError


@overload(displacement, inline="always")
def _displacement(
    starts: Any, columns: Any, values: Any, block: Any, factors: Any, low: Any, high: Any, unit: Any, exact: Any
) -> Any:
    return _of_floats if values.dtype == types.float32 else _of_wholes


def _of_floats(
    starts: Any, columns: Any, values: Any, block: Any, factors: Any, low: Any, high: Any, unit: Any, exact: Any
) -> Any:  # pragma: no cover - compiled
    x = y = z = splat(0.0)
    for entry in range(starts[block], starts[block + 1]):
        share, at = splat(factors[columns[entry]]), entry * _BLOCK
        x = fma(load(values, at), share, x)
        y = fma(load(values, at + LANES), share, y)
        z = fma(load(values, at + 2 * LANES), share, z)
    return x, y, z


def _of_wholes(
    starts: Any, columns: Any, values: Any, block: Any, factors: Any, low: Any, high: Any, unit: Any, exact: Any
) -> Any:  # pragma: no cover - compiled
    x = y = z = splat(0.0)
    if exact:
        for entry in range(starts[block], starts[block + 1]):
            a, b = splat(factors[columns[2 * entry]]), splat(factors[columns[2 * entry + 1]])
            at = 2 * entry * _BLOCK
            even, odd = load_pairs(values, at)
            x = fma(odd, b, fma(even, a, x))
            even, odd = load_pairs(values, at + 2 * LANES)
            y = fma(odd, b, fma(even, a, y))
            even, odd = load_pairs(values, at + 4 * LANES)
            z = fma(odd, b, fma(even, a, z))
    else:
        i = j = k = no_sums()
        for entry in range(starts[block], starts[block + 1]):
            both = low[columns[2 * entry]] | high[columns[2 * entry + 1]]
            at = 2 * entry * _BLOCK
            i = add_products(i, values, at, both)
            j = add_products(j, values, at + 2 * LANES, both)
            k = add_products(k, values, at + 4 * LANES, both)
        one = splat(unit)
        x, y, z = times(as_lanes(i), one), times(as_lanes(j), one), times(as_lanes(k), one)
    return x, y, z


@inlined
def _pointers(entries: BlockEntries) -> tuple[Pointer, Pointer, Pointer]:  # pragma: no cover - compiled
    return pointer(entries.starts), pointer(entries.columns), pointer(entries.values)


@inlined
def _factors(frame: Frame, which: int) -> tuple[Pointer, Pointer, Pointer]:  # pragma: no cover - compiled
    """The factors of the points, 0, or of the normals, 1: as they are, and as whole numbers in low and high halves."""
    return pointer(frame.factors[which]), pointer(frame.halves[which, 0]), pointer(frame.halves[which, 1])


@inlined
def _added(rest: Pointer, block: int, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """Displacements of a block plus its rest points or normals."""
    at, one = block * _BLOCK, splat(1.0)
    x = fma(load(rest, at), one, x)
    y = fma(load(rest, at + LANES), one, y)
    z = fma(load(rest, at + 2 * LANES), one, z)
    return x, y, z


@inlined
def _write(
    out: Pointer, order: Pointer, full: int, block: int, x: Any, y: Any, z: Any
) -> None:  # pragma: no cover - compiled
    """Write a block's points: at once if it is one of the first `full`, which are in the mesh's order."""
    if block < full:
        store(out, block * _BLOCK, x, y, z)
    else:
        scatter(out, order, block * LANES, x, y, z)


@relaxed
def skin_points(
    first: int,
    last: int,
    blocks: RestBlocks,
    entries: BlockEntries,
    frame: Frame,
    unit: float,
    exact: bool,
    out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write the posed points of some blocks to `out` (N, 3)."""
    rest, order, full, palette = pointer(blocks.rest), pointer(blocks.order), blocks.full[0], pointer(frame.palette)
    bone_starts, bones, weights = _pointers(blocks.bones)
    starts, columns, values = _pointers(entries)
    factors, low, high = _factors(frame, 0)
    out_at = pointer(out)
    for block in range(first, last):
        x, y, z = displacement(starts, columns, values, block, factors, low, high, unit, exact)
        x, y, z = _added(rest, block, x, y, z)
        p = q = r = splat(0.0)
        for entry in range(bone_starts[block], bone_starts[block + 1]):
            w, b = load(weights, entry * LANES), bones[entry]
            p = fma(w, _row(palette, b, x, y, z), p)
            q = fma(w, _row(palette, b + 4, x, y, z), q)
            r = fma(w, _row(palette, b + 8, x, y, z), r)
        _write(out_at, order, full, block, p, q, r)


@inlined
def _row(palette: Floats32, at: int, x: Any, y: Any, z: Any) -> Any:  # pragma: no cover - compiled
    """One row of a transform times points."""
    last = fma(splat(palette[at + 2]), z, splat(palette[at + 3]))
    return fma(splat(palette[at]), x, fma(splat(palette[at + 1]), y, last))


@relaxed
def skin_both(
    first: int,
    last: int,
    blocks: RestBlocks,
    entries: BlockEntries,
    normal_entries: BlockEntries,
    frame: Frame,
    units: tuple[float, float],
    exact: tuple[bool, bool],
    shrink: float,
    out: Floats32,
    normals_out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write posed points and carried normals of some blocks: cof(M)·n, M times `shrink` to stay clear of the limits."""
    rest, normals = pointer(blocks.rest), pointer(blocks.normals)
    order, full = pointer(blocks.order), blocks.full[0]
    bone_starts, bones, weights = _pointers(blocks.bones)
    starts, columns, values = _pointers(entries)
    normal_starts, normal_columns, normal_values = _pointers(normal_entries)
    palette, (factors, low, high) = pointer(frame.palette), _factors(frame, 0)
    normal_factors, normal_low, normal_high = _factors(frame, 1)
    points_at, normals_at = pointer(out), pointer(normals_out)
    unit, normal_unit = units
    as_is, normals_as_is = exact
    for block in range(first, last):
        m00 = m01 = m02 = m03 = m10 = m11 = m12 = m13 = m20 = m21 = m22 = m23 = splat(0.0)
        for entry in range(bone_starts[block], bone_starts[block + 1]):
            w, b = load(weights, entry * LANES), bones[entry]
            m00, m01, m02, m03 = _blend(palette, b, w, m00, m01, m02, m03)
            m10, m11, m12, m13 = _blend(palette, b + 4, w, m10, m11, m12, m13)
            m20, m21, m22, m23 = _blend(palette, b + 8, w, m20, m21, m22, m23)
        x, y, z = displacement(starts, columns, values, block, factors, low, high, unit, as_is)
        x, y, z = _added(rest, block, x, y, z)
        p = fma(m00, x, fma(m01, y, fma(m02, z, m03)))
        q = fma(m10, x, fma(m11, y, fma(m12, z, m13)))
        r = fma(m20, x, fma(m21, y, fma(m22, z, m23)))
        _write(points_at, order, full, block, p, q, r)
        x, y, z = displacement(
            normal_starts,
            normal_columns,
            normal_values,
            block,
            normal_factors,
            normal_low,
            normal_high,
            normal_unit,
            normals_as_is,
        )
        x, y, z = _added(normals, block, x, y, z)
        p, q, r = _carried(m00, m01, m02, m10, m11, m12, m20, m21, m22, splat(shrink), x, y, z)
        _write(normals_at, order, full, block, p, q, r)


@inlined
def _blend(
    palette: Floats32, at: int, w: Any, a: Any, b: Any, c: Any, d: Any
) -> tuple[Any, Any, Any, Any]:  # pragma: no cover - compiled
    """Add a row of a transform, times weights, to the row of the blends."""
    return (
        fma(splat(palette[at]), w, a),
        fma(splat(palette[at + 1]), w, b),
        fma(splat(palette[at + 2]), w, c),
        fma(splat(palette[at + 3]), w, d),
    )


@inlined
def _carried(
    a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, small: Any, x: Any, y: Any, z: Any
) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """Unit normals from normals x y z, by the cofactors of blends a b c, d e f, g h i, made `small`."""
    a, b, c, d, e = times(a, small), times(b, small), times(c, small), times(d, small), times(e, small)
    f, g, h, i = times(f, small), times(g, small), times(h, small), times(i, small)
    p = fma(_minor(e, i, f, h), x, fma(_minor(f, g, d, i), y, times(_minor(d, h, e, g), z)))
    q = fma(_minor(h, c, i, b), x, fma(_minor(i, a, g, c), y, times(_minor(g, b, h, a), z)))
    r = fma(_minor(b, f, c, e), x, fma(_minor(c, d, a, f), y, times(_minor(a, e, b, d), z)))
    length = root_inverse(fma(p, p, fma(q, q, times(r, r))))
    return pick(length, times(p, length), x), pick(length, times(q, length), y), pick(length, times(r, length), z)


@inlined
def _minor(a: Any, b: Any, c: Any, d: Any) -> Any:  # pragma: no cover - compiled
    """a·b - c·d."""
    return minus(times(a, b), times(c, d))


@compiled
def shrinking(palette: Floats32) -> float:  # pragma: no cover - compiled
    """One over the largest number of the transforms' linear parts."""
    largest = 0.0
    for k in range(len(palette)):
        if k % 4 < 3:
            largest = max(largest, abs(palette[k]))
    return 1.0 / largest if largest > 0.0 else 1.0
