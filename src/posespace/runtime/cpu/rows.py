"""Rows of four numbers, read and written eight at a time: points that are gathered come as x, y and z of eight.

A row is read at once and the eight rows are then transposed: a third of the work of reading number by number. So
tables of points that loops gather from have rows of four, the last number unused. See `lanes` for the rest.
"""

# ruff: noqa: ARG001 - numba passes everything it has; only the number of arguments matters.
from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from posespace.runtime.cpu.lanes import LANES, lanes_type
from posespace.runtime.pointers import Emit, address, instruction, pointing_to

ROW = 4
"""Numbers in a row."""

_FLOAT, _INT, _LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_QUAD, _VECTOR = (ir.VectorType(_FLOAT, count) for count in (ROW, LANES))


@instruction
def gather(typing: Any, rows: Any, stride: Any, indices: Any, first: Any) -> tuple[Any, Emit]:
    """Return the first four columns, each eight numbers, of eight rows of float32 numbers (N, stride).

    `indices` (int32) names the rows from `first` on.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, _, indices, _ = signature.args
        quads = []
        for lane in range(LANES):
            index = builder.add(args[3], ir.Constant(_LONG, lane))
            row = builder.load(address(context, builder, indices, args[2], index), typ=_INT)
            start = builder.mul(builder.sext(row, _LONG), args[1])
            place = pointing_to(builder, address(context, builder, rows, args[0], start), _QUAD)
            quads.append(builder.load(place, align=4, typ=_QUAD))
        return context.make_tuple(builder, signature.return_type, _transposed(builder, quads))

    four = types.UniTuple(lanes_type, ROW)  # type: ignore[no-untyped-call]
    return four(rows, types.intp, indices, types.intp), emit


def _transposed(builder: Any, quads: list[Any]) -> list[Any]:
    """Eight rows of four as four columns of eight, by the steps that processors have."""
    # Rows k and k + 4 in one register, then pairs, then fours of one column.
    both = [builder.shuffle_vector(quads[k], quads[k + 4], _mask(range(8))) for k in range(4)]
    low, high = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
    left, right = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
    columns = []
    for half in (low, high):
        a, b = (builder.shuffle_vector(both[k], both[k + 1], _mask(half)) for k in (0, 2))
        columns += [builder.shuffle_vector(a, b, _mask(side)) for side in (left, right)]
    return columns


@instruction
def put_rows(typing: Any, rows: Any, first: Any, x: Any, y: Any, z: Any) -> tuple[Any, Emit]:
    """Write eight rows x, y, z, 0 from row `first` on."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(_VECTOR, [0.0] * LANES)
        xy = builder.shuffle_vector(args[2], args[3], _mask(range(2 * LANES)))
        zw = builder.shuffle_vector(args[4], zero, _mask(range(2 * LANES)))
        order = [lane + LANES * axis for lane in range(LANES) for axis in range(ROW)]
        mixed = builder.shuffle_vector(xy, zw, _mask(order))
        start = builder.mul(args[1], ir.Constant(_LONG, ROW))
        place = address(context, builder, signature.args[0], args[0], start)
        builder.store(mixed, pointing_to(builder, place, mixed.type), align=4)
        return context.get_dummy_value()

    return types.void(rows, types.intp, lanes_type, lanes_type, lanes_type), emit


def _mask(order: Any) -> Any:
    indices = [_INT(index) for index in order]
    return ir.Constant(ir.VectorType(_INT, len(indices)), indices)
