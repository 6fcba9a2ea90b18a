"""Arrays as pointers, for compiled loops: counting references to arrays costs a short loop more than its work.

A pointer is indexed like a flat array, counted over all axes, and never from the end. It holds only as long as its
array lives: the players keep every array that the loops see.
"""

# ruff: noqa: ARG001 - numba passes everything it has; only the number of arguments matters.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

Pointer = Any
"""A `numba.types.CPointer` to an array's numbers."""

Emit = Callable[[Any, Any, Any, Any], Any]


def instruction(emitter: Callable[..., tuple[Any, Emit]]) -> Any:
    """Make an instruction for compiled code of a function that returns its type and what emits it.

    As `numba.extending.intrinsic`, but without the first argument in its type, which callers do not pass.
    """
    return intrinsic(emitter)


def address(context: Any, builder: Any, pointer_type: Any, pointer: Any, start: Any) -> Any:
    """Emit the address of the number `start`; its type is numba's, as pointers in LLVM may have none."""
    return builder.gep(pointer, [start], source_etype=context.get_data_type(pointer_type.dtype))


def pointing_to(builder: Any, pointer: Any, kind: Any) -> Any:
    """Emit a pointer as one to `kind`: with typed pointers a cast, with opaque ones nothing."""
    return pointer if pointer.type.is_opaque else builder.bitcast(pointer, kind.as_pointer())


@instruction
def pointer(typing: Any, array: Any) -> tuple[Any, Emit]:
    """Return a pointer to the first number of a contiguous array."""
    if array.layout != "C":
        raise TypingError(f"pointer: expected a contiguous array, got {array}")

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), emit  # type: ignore[no-untyped-call]


@instruction
def after(typing: Any, pointer: Any, count: Any) -> tuple[Any, Emit]:
    """Return a pointer to the number `count` further on."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return address(context, builder, signature.args[0], *args)

    return pointer(pointer, types.intp), emit
