"""Eight float32 numbers in one register, for compiled code: the loops over vertices process eight at a time.

A compiler vectorises such loops only where it can prove a great deal about them; here the registers are written out.
On a processor with shorter registers, each of these instructions becomes two or more. Arrays come as pointers.
"""

# ruff: noqa: ARG001 - numba passes everything it has; only the number of arguments matters.
from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model

from posespace.runtime.pointers import Emit, address, instruction, pointing_to

LANES = 8

_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_INT, _LONG = ir.IntType(32), ir.IntType(64)
_WHOLES = ir.VectorType(_INT, LANES)
_SHORTS = ir.VectorType(ir.IntType(16), 2 * LANES)


class LanesType(types.Type):
    """The type of eight numbers."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


class SumsType(types.Type):
    """The type of eight int32 sums."""

    def __init__(self) -> None:
        super().__init__(name="Sums")


lanes_type, sums_type = LanesType(), SumsType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


@register_model(SumsType)
class _SumsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WHOLES)


def _numbers(context: Any, builder: Any, pointer_type: Any, pointer: Any, start: Any, count: int) -> Any:
    """Emit the load of `count` numbers from `start` on, and return the vector."""
    kind = ir.VectorType(context.get_data_type(pointer_type.dtype), count)
    first = pointing_to(builder, address(context, builder, pointer_type, pointer, start), kind)
    return builder.load(first, align=1, typ=kind)


@instruction
def load(typing: Any, pointer: Any, start: Any) -> tuple[Any, Emit]:
    """Return eight float32, int16 or int8 numbers from `start` on, as float32."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = _numbers(context, builder, signature.args[0], args[0], args[1], LANES)
        if isinstance(numbers.type.element, ir.IntType):
            numbers = builder.sitofp(builder.sext(numbers, ir.VectorType(_INT, LANES)), _VECTOR)
        return numbers

    return lanes_type(pointer, types.intp), emit


@instruction
def as_floats(typing: Any, pointer: Any) -> tuple[Any, Emit]:
    """Return a pointer to bytes as one to float32 numbers."""
    return types.CPointer(types.float32)(pointer), _cast


@instruction
def as_shorts(typing: Any, pointer: Any) -> tuple[Any, Emit]:
    """Return a pointer to bytes as one to int16 numbers."""
    return types.CPointer(types.int16)(pointer), _cast


@instruction
def as_bytes(typing: Any, pointer: Any) -> tuple[Any, Emit]:
    """Return a pointer to bytes as one to int8 numbers."""
    return types.CPointer(types.int8)(pointer), _cast


def _cast(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return pointing_to(builder, args[0], context.get_data_type(signature.return_type.dtype))


@instruction
def store(typing: Any, pointer: Any, start: Any, x: Any, y: Any, z: Any) -> tuple[Any, Emit]:
    """Write eight points, x y z x y z ..., as float32 from `start` on."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        xy = builder.shuffle_vector(args[2], args[3], _mask(range(2 * LANES)))
        zz = builder.shuffle_vector(args[4], args[4], _mask(range(2 * LANES)))
        order = [lane + LANES * axis for lane in range(LANES) for axis in range(3)]
        mixed = builder.shuffle_vector(xy, zz, _mask(order))
        first = address(context, builder, signature.args[0], args[0], args[1])
        builder.store(mixed, pointing_to(builder, first, mixed.type), align=4)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, lanes_type, lanes_type, lanes_type), emit


@instruction
def scatter(typing: Any, pointer: Any, rows: Any, first: Any, x: Any, y: Any, z: Any) -> tuple[Any, Emit]:
    """Write eight points to the rows of float32 numbers (N, 3) that `rows` (int32) names from `first` on."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, rows = signature.args[:2]
        # The first two numbers of a point are written at once.
        pairs = builder.shuffle_vector(
            args[3], args[4], _mask(k + LANES * axis for k in range(LANES) for axis in (0, 1))
        )
        for lane in range(LANES):
            index = builder.add(args[2], ir.Constant(_LONG, lane))
            row = builder.load(address(context, builder, rows, args[1], index), typ=_INT)
            start = builder.mul(builder.sext(row, _LONG), ir.Constant(_LONG, 3))
            pair = builder.shuffle_vector(pairs, pairs, _mask([2 * lane, 2 * lane + 1]))
            first = pointing_to(builder, address(context, builder, out, args[0], start), pair.type)
            builder.store(pair, first, align=4)
            last = address(context, builder, out, args[0], builder.add(start, ir.Constant(_LONG, 2)))
            builder.store(builder.extract_element(args[5], _INT(lane)), last)
        return context.get_dummy_value()

    return types.void(pointer, rows, types.intp, lanes_type, lanes_type, lanes_type), emit


@instruction
def no_sums(typing: Any) -> tuple[Any, Emit]:
    """Return eight whole numbers, all zero."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(_WHOLES, [0] * LANES)

    return sums_type(), emit


@instruction
def add_products(typing: Any, sums: Any, pointer: Any, start: Any, factors: Any) -> tuple[Any, Emit]:
    """Return sums plus products: of 16 whole numbers, those with even index times the low half of `factors`, an int32
    that holds two int16, and those with odd index times the high half. Processors do this in one step.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        one = builder.insert_element(ir.Constant(_WHOLES, ir.Undefined), args[3], _INT(0))
        both = builder.bitcast(builder.shuffle_vector(one, one, _mask([0] * LANES)), _SHORTS)
        numbers = _wide(context, builder, signature.args[1], args[1], args[2])
        # Written so that the compiler finds the one step: all products, then even and odd ones together.
        even, odd = _halves(builder, builder.mul(numbers, builder.sext(both, numbers.type)))
        return builder.add(args[0], builder.add(even, odd))

    return sums_type(sums_type, pointer, types.intp, types.int32), emit


@instruction
def load_pairs(typing: Any, pointer: Any, start: Any) -> tuple[Any, Emit]:
    """Return 16 whole numbers from `start` on as float32: those with even index, and those with odd index."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = _wide(context, builder, signature.args[0], *args)
        halves = [builder.sitofp(half, _VECTOR) for half in _halves(builder, numbers)]
        return context.make_tuple(builder, signature.return_type, halves)

    return types.UniTuple(lanes_type, 2)(pointer, types.intp), emit


def _wide(context: Any, builder: Any, pointer_type: Any, pointer: Any, start: Any) -> Any:
    """16 whole numbers as int32."""
    numbers = _numbers(context, builder, pointer_type, pointer, start, 2 * LANES)
    return builder.sext(numbers, ir.VectorType(_INT, 2 * LANES))


def _halves(builder: Any, numbers: Any) -> tuple[Any, Any]:
    even, odd = (builder.shuffle_vector(numbers, numbers, _mask(range(first, 2 * LANES, 2))) for first in (0, 1))
    return even, odd


@instruction
def as_lanes(typing: Any, sums: Any) -> tuple[Any, Emit]:
    """Return whole numbers as float32."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sitofp(args[0], _VECTOR)

    return lanes_type(sums_type), emit


@instruction
def splat(typing: Any, number: Any) -> tuple[Any, Emit]:
    """Return a number eight times."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[0], _INT(0))
        return builder.shuffle_vector(one, one, _mask([0] * LANES))

    return lanes_type(types.float32), emit


@instruction
def fma(typing: Any, a: Any, b: Any, c: Any) -> tuple[Any, Emit]:
    """Return a·b + c."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = f"llvm.fma.v{LANES}f32"
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return lanes_type(lanes_type, lanes_type, lanes_type), emit


@instruction
def times(typing: Any, a: Any, b: Any) -> tuple[Any, Emit]:
    """Return a·b."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(*args)

    return lanes_type(lanes_type, lanes_type), emit


@instruction
def plus(typing: Any, a: Any, b: Any) -> tuple[Any, Emit]:
    """Return a + b."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return lanes_type(lanes_type, lanes_type), emit


@instruction
def minus(typing: Any, a: Any, b: Any) -> tuple[Any, Emit]:
    """Return a - b."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fsub(*args)

    return lanes_type(lanes_type, lanes_type), emit


@instruction
def pick(typing: Any, where: Any, a: Any, b: Any) -> tuple[Any, Emit]:
    """Return a where `where` is above 0, else b."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(_VECTOR, [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return lanes_type(lanes_type, lanes_type, lanes_type), emit


@instruction
def inverse_of_largest(typing: Any, a: Any, b: Any, c: Any) -> tuple[Any, Emit]:
    """Return one over the largest of |a|, |b| and |c|; infinite where all are 0."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, both = ir.FunctionType(_VECTOR, [_VECTOR]), ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR])
        size = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f32")
        larger = cgutils.get_or_insert_function(builder.module, both, f"llvm.maxnum.v{LANES}f32")
        a, b, c = (builder.call(size, [number]) for number in args)
        return builder.fdiv(
            ir.Constant(_VECTOR, [1.0] * LANES), builder.call(larger, [builder.call(larger, [a, b]), c])
        )

    return lanes_type(lanes_type, lanes_type, lanes_type), emit


@instruction
def put(typing: Any, pointer: Any, start: Any, numbers: Any) -> tuple[Any, Emit]:
    """Write eight numbers as float32 from `start` on."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = address(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], pointing_to(builder, first, _VECTOR), align=4)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, lanes_type), emit


@instruction
def root_inverse(typing: Any, a: Any) -> tuple[Any, Emit]:
    """Return 1/√a, and 0 where a is 0."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        square_root = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f32")
        one, zero = (ir.Constant(_VECTOR, [value] * LANES) for value in (1.0, 0.0))
        inverse = builder.fdiv(one, builder.call(square_root, args))
        return builder.select(builder.fcmp_ordered(">", args[0], zero), inverse, zero)

    return lanes_type(lanes_type), emit


def _mask(order: Any) -> Any:
    indices = [_INT(index) for index in order]
    return ir.Constant(ir.VectorType(_INT, len(indices)), indices)
