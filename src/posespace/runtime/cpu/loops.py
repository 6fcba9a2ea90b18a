"""The compiled loops over blocks of vertices: displacements added, bones blended, points and normals written."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.runtime.compiled import Ints32, compiled, inlined, relaxed
from posespace.runtime.cpu.lanes import (
    LANES,
    add_products,
    as_bytes,
    as_floats,
    as_lanes,
    as_shorts,
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

Pointers = tuple[Pointer, Pointer, Pointer]

FLOATS, SHORTS, BYTES = range(3)
"""How displacements are stored. It is a number, not a type: so the loops are compiled once for all three."""


class BlockTables(NamedTuple):
    """What the loops read of a skin's blocks; see `Blocks` for the layout.

    Parameters
    ----------
    rest, normals : (B, 3, 8) the rest shape and its normals
    order : (8 B,) the vertex of each lane
    ordered : how many blocks, from the first on, are in the mesh's order
    bone_starts, bones, weights : the bones of the blocks
    stored, starts, columns, values : displacements of points: how they are stored, and their entries as bytes
    normals_stored, normal_starts, normal_columns, normal_values : the same of normals
    scales : (2, C) the length of one unit of each column's values, of points and of normals
    bounds : (2, 2) of points and of normals the largest sum of whole numbers at a vertex, 0 where they are floats, and
        how far off a displacement may be
    """

    rest: Floats32
    normals: Floats32
    order: Ints32
    ordered: int
    bone_starts: Ints32
    bones: Ints32
    weights: Floats32
    stored: int
    starts: Ints32
    columns: Ints32
    values: NDArray[np.uint8]
    normals_stored: int
    normal_starts: Ints32
    normal_columns: Ints32
    normal_values: NDArray[np.uint8]
    scales: Floats
    bounds: Floats


class FrameBuffers(NamedTuple):
    """What is computed before any block is posed, a row per pose.

    Parameters
    ----------
    scratch, palette, coordinates : see `drive`
    factors : (P, 2, C) float32, what the columns of the points and of the normals are multiplied by
    halves : (P, 2, 2, C) int32, the same as whole numbers, in the low and in the high half
    units : (P, 3) the length of one unit of whole factors, of points and of normals, and what transforms are
        multiplied by before their cofactors are taken
    exact : (P, 2) whether factors are used as they are, not as whole numbers
    """

    scratch: Floats
    palette: Floats32
    coordinates: Floats
    factors: Floats32
    halves: Ints32
    units: Floats
    exact: NDArray[np.bool_]


@compiled
def scale_coordinates(tables: BlockTables, buffers: FrameBuffers, row: int) -> None:  # pragma: no cover - compiled
    """Write the factors of a pose's stored displacements from its coordinates.

    Sums of whole numbers must neither overflow nor exceed the tolerance; otherwise the factors are used as they are.
    """
    for which in range(2):
        scales, factors = tables.scales[which], buffers.factors[row, which]
        largest = 0.0
        for k in range(len(scales)):
            value = buffers.coordinates[row, k] * scales[k]
            factors[k] = value
            largest = max(largest, abs(value))
        most, tolerance = tables.bounds[which, 0], tables.bounds[which, 1]
        unit = largest * max(most / _WHOLE, 1 / 32767)
        exact = not (most > 0.0 and unit > 0.0 and 0.5 * unit * most <= tolerance)
        buffers.units[row, which], buffers.exact[row, which] = unit, exact
        if not exact:
            low, high = buffers.halves[row, which, 0], buffers.halves[row, which, 1]
            for k in range(len(scales)):
                whole = np.int32(math.floor(factors[k] / unit + 0.5))
                low[k] = whole & 0xFFFF
                high[k] = whole << 16


@compiled
def finish_driving(
    buffers: FrameBuffers, palettes: Floats32, first: int, count: int, normals: bool
) -> float:  # pragma: no cover - compiled
    """Return how many numbers driven in `count` poses are too large; for normals, find what makes transforms small."""
    beyond = 0.0
    for row in range(first, first + count):
        beyond += buffers.scratch[row, -1]
        largest = 0.0
        for k in range(palettes.shape[1] if normals else 0):
            if k % 4 < 3:
                largest = max(largest, abs(palettes[row, k]))
        buffers.units[row, 2] = 1.0 / largest if largest > 0.0 else 1.0
    return beyond


@inlined
def _displacement(
    stored: int, block: int, entries: Pointers, factors: Pointers, unit: float, exact: bool
) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """A block's displacement, three times eight numbers.

    Parameters
    ----------
    entries : pointers to the starts, columns and bytes of a `BlockBasis`
    factors : pointers to the factors as they are, and as whole numbers in low and high halves
    """
    starts, columns, values = entries
    first, last = starts[block], starts[block + 1]
    if stored == FLOATS:
        return _of_floats(first, last, columns, as_floats(values), factors[0])
    if stored == SHORTS:
        if exact:
            return _of_pairs(first, last, columns, as_shorts(values), factors[0])
        return _of_wholes(first, last, columns, as_shorts(values), factors, unit)
    if exact:
        return _of_pairs(first, last, columns, as_bytes(values), factors[0])
    return _of_wholes(first, last, columns, as_bytes(values), factors, unit)


@inlined
def _of_floats(
    first: int, last: int, columns: Pointer, values: Pointer, factors: Pointer
) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """The sum of float displacements times factors."""
    x = y = z = splat(0.0)
    for entry in range(first, last):
        share, at = splat(factors[columns[entry]]), entry * _BLOCK
        x = fma(load(values, at), share, x)
        y = fma(load(values, at + LANES), share, y)
        z = fma(load(values, at + 2 * LANES), share, z)
    return x, y, z


@inlined
def _of_pairs(
    first: int, last: int, columns: Pointer, values: Pointer, factors: Pointer
) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """The sum of whole displacements, two columns per entry, times factors."""
    x = y = z = splat(0.0)
    for entry in range(first, last):
        a, b = splat(factors[columns[2 * entry]]), splat(factors[columns[2 * entry + 1]])
        at = 2 * entry * _BLOCK
        even, odd = load_pairs(values, at)
        x = fma(odd, b, fma(even, a, x))
        even, odd = load_pairs(values, at + 2 * LANES)
        y = fma(odd, b, fma(even, a, y))
        even, odd = load_pairs(values, at + 4 * LANES)
        z = fma(odd, b, fma(even, a, z))
    return x, y, z


@inlined
def _of_wholes(
    first: int, last: int, columns: Pointer, values: Pointer, factors: Pointers, unit: float
) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """The same with whole factors, whose unit is multiplied last."""
    _, low, high = factors
    i = j = k = no_sums()
    for entry in range(first, last):
        both = low[columns[2 * entry]] | high[columns[2 * entry + 1]]
        at = 2 * entry * _BLOCK
        i = add_products(i, values, at, both)
        j = add_products(j, values, at + 2 * LANES, both)
        k = add_products(k, values, at + 4 * LANES, both)
    one = splat(unit)
    return times(as_lanes(i), one), times(as_lanes(j), one), times(as_lanes(k), one)


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
    out: Pointer, order: Pointer, ordered: int, block: int, x: Any, y: Any, z: Any
) -> None:  # pragma: no cover - compiled
    """Write a block's points: at once if it is in the mesh's order."""
    if block < ordered:
        store(out, block * _BLOCK, x, y, z)
    else:
        scatter(out, order, block * LANES, x, y, z)


@relaxed
def skin_points(
    first: int, last: int, tables: BlockTables, buffers: FrameBuffers, palette: Floats32, row: int, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the posed points (N, 3) of some blocks in a pose that was driven, with transforms `palette` (12 bones,)."""
    rest, order, transforms, points = pointer(tables.rest), pointer(tables.order), pointer(palette), pointer(out)
    starts, bones, weights = pointer(tables.bone_starts), pointer(tables.bones), pointer(tables.weights)
    entries = pointer(tables.starts), pointer(tables.columns), pointer(tables.values)
    low, high = pointer(buffers.halves[row, 0, 0]), pointer(buffers.halves[row, 0, 1])
    factors = pointer(buffers.factors[row, 0]), low, high
    unit, exact, stored, ordered = buffers.units[row, 0], buffers.exact[row, 0], tables.stored, tables.ordered
    for block in range(first, last):
        x, y, z = _displacement(stored, block, entries, factors, unit, exact)
        x, y, z = _added(rest, block, x, y, z)
        p = q = r = splat(0.0)
        for entry in range(starts[block], starts[block + 1]):
            w, b = load(weights, entry * LANES), bones[entry]
            p = fma(w, _row(transforms, b, x, y, z), p)
            q = fma(w, _row(transforms, b + 4, x, y, z), q)
            r = fma(w, _row(transforms, b + 8, x, y, z), r)
        _write(points, order, ordered, block, p, q, r)


@inlined
def _row(palette: Pointer, at: int, x: Any, y: Any, z: Any) -> Any:  # pragma: no cover - compiled
    """One row of a transform times points."""
    last = fma(splat(palette[at + 2]), z, splat(palette[at + 3]))
    return fma(splat(palette[at]), x, fma(splat(palette[at + 1]), y, last))


@relaxed
def skin_both(
    first: int,
    last: int,
    tables: BlockTables,
    buffers: FrameBuffers,
    palette: Floats32,
    row: int,
    out: Floats32,
    normals_out: Floats32,
) -> None:  # pragma: no cover - compiled
    """Write posed points and carried normals of some blocks: cof(M)·n, M made small to stay clear of the limits."""
    rest, rest_normals, order = pointer(tables.rest), pointer(tables.normals), pointer(tables.order)
    starts, bones, weights = pointer(tables.bone_starts), pointer(tables.bones), pointer(tables.weights)
    entries = pointer(tables.starts), pointer(tables.columns), pointer(tables.values)
    normal_starts, normal_columns = pointer(tables.normal_starts), pointer(tables.normal_columns)
    normal_entries = normal_starts, normal_columns, pointer(tables.normal_values)
    stored, normals_stored, ordered = tables.stored, tables.normals_stored, tables.ordered
    low, high = pointer(buffers.halves[row, 0, 0]), pointer(buffers.halves[row, 0, 1])
    normal_low, normal_high = pointer(buffers.halves[row, 1, 0]), pointer(buffers.halves[row, 1, 1])
    factors = pointer(buffers.factors[row, 0]), low, high
    normal_factors = pointer(buffers.factors[row, 1]), normal_low, normal_high
    unit, normal_unit, small = buffers.units[row, 0], buffers.units[row, 1], splat(buffers.units[row, 2])
    exact, normals_exact = buffers.exact[row, 0], buffers.exact[row, 1]
    transforms, points, normals = pointer(palette), pointer(out), pointer(normals_out)
    for block in range(first, last):
        m00 = m01 = m02 = m03 = m10 = m11 = m12 = m13 = m20 = m21 = m22 = m23 = splat(0.0)
        for entry in range(starts[block], starts[block + 1]):
            w, b = load(weights, entry * LANES), bones[entry]
            m00, m01, m02, m03 = _blend(transforms, b, w, m00, m01, m02, m03)
            m10, m11, m12, m13 = _blend(transforms, b + 4, w, m10, m11, m12, m13)
            m20, m21, m22, m23 = _blend(transforms, b + 8, w, m20, m21, m22, m23)
        x, y, z = _displacement(stored, block, entries, factors, unit, exact)
        x, y, z = _added(rest, block, x, y, z)
        p = fma(m00, x, fma(m01, y, fma(m02, z, m03)))
        q = fma(m10, x, fma(m11, y, fma(m12, z, m13)))
        r = fma(m20, x, fma(m21, y, fma(m22, z, m23)))
        _write(points, order, ordered, block, p, q, r)
        x, y, z = _displacement(normals_stored, block, normal_entries, normal_factors, normal_unit, normals_exact)
        x, y, z = _added(rest_normals, block, x, y, z)
        blend = (m00, m01, m02), (m10, m11, m12), (m20, m21, m22)
        p, q, r = _carried(blend, small, x, y, z)
        _write(normals, order, ordered, block, p, q, r)


@inlined
def _blend(
    palette: Pointer, at: int, w: Any, a: Any, b: Any, c: Any, d: Any
) -> tuple[Any, Any, Any, Any]:  # pragma: no cover - compiled
    """Add a row of a transform, times weights, to the row of the blends."""
    return (
        fma(splat(palette[at]), w, a),
        fma(splat(palette[at + 1]), w, b),
        fma(splat(palette[at + 2]), w, c),
        fma(splat(palette[at + 3]), w, d),
    )


@inlined
def _carried(blend: Any, small: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:  # pragma: no cover - compiled
    """Unit normals from normals x y z, by the cofactors of blends, three rows of three, made `small`."""
    (a, b, c), (d, e, f), (g, h, i) = blend
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
