"""Checks of arguments: each returns an array, a name or a number of a known shape and type, or raises.

Nouns call them once, at construction. Every message names the argument, what was expected and what came.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace.errors import InputError, suggestion

Floats = NDArray[np.floating[Any]]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int32]

LARGEST = 1e10
"""Largest number in a shape or a pose: products of a few such numbers still fit single precision."""

_INT32_MAX = np.iinfo(np.int32).max
_FINITE = float(np.finfo(np.float64).max)


def floats(name: str, value: ArrayLike, shape: Sequence[int | str], most: float = _FINITE) -> Floats:
    """Return `value` as a read-only float32 or float64 array; other types become float64.

    Parameters
    ----------
    name : what the array is, for the message
    value : anything NumPy takes; float32 and float64 arrays are not copied
    shape : one entry per axis; a number must match, a letter may be anything
    most : how far from zero its numbers may be; all must be finite
    """
    array = _array(name, value)
    if array.dtype not in (np.float32, np.float64):
        if array.dtype.kind not in "fiub":
            raise InputError(f"{name}: expected numbers, got dtype {array.dtype}")
        array = array.astype(np.float64)
    _check_shape(name, array, shape)
    # Written so that NaN, which either of the two gives where there is one, fails too.
    if not (float(array.min(initial=0.0)) >= -most and float(array.max(initial=0.0)) <= most):
        where = np.argwhere(~(np.abs(array.astype(np.float64)) <= most))[0]
        wanted = f"numbers from {-most:g} to {most:g}" if np.isfinite(array[tuple(where)]) else "finite numbers"
        raise InputError(f"{name}: expected {wanted}, got {array[tuple(where)]:g} at {where.tolist()}")
    return _read_only(array)


def ordinary(name: str, computed: Floats) -> None:
    """Raise where numbers computed from a pose are not finite, or larger than `LARGEST`."""
    size = float(np.abs(computed).max(initial=0.0))
    if not size <= LARGEST:
        raise InputError(f"{name}: expected numbers from {-LARGEST:g} to {LARGEST:g} in this pose, got {size:g}")


def indices(name: str, value: ArrayLike, shape: Sequence[int | str], below: int, least: int = 0) -> Ints:
    """Return `value` as a read-only int32 array whose entries lie in `least` … `below` - 1."""
    array = _array(name, value)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name}: expected whole numbers, got dtype {array.dtype}")
    _check_shape(name, array, shape)
    if array.size:
        low, high = int(array.min()), int(array.max())
        if low < least or high >= below or high > _INT32_MAX:
            outside = low if low < least else high
            raise InputError(f"{name}: expected indices from {least} to {below - 1}, got {outside}")
    return _read_only(array.astype(np.int32, copy=False))


def transforms(name: str, value: ArrayLike, shape: Sequence[int | str], columns: Sequence[str] = ()) -> Floats:
    """Return `value` (..., 4, 4) as floats if each matrix acts on column vectors: its last row is 0 0 0 1.

    `columns` names the entries of the axis before the last two, for the message.
    """
    array = floats(name, value, shape)
    # Relative to the largest entry, because that is how far rounding moves the last row.
    _check_last_rows(name, array, 1e-4 * (1 + np.abs(array).max(initial=0.0)), columns)
    return array


def affine(name: str, value: ArrayLike, shape: Sequence[int | str], tolerance: float = 1e-4) -> Floats:
    """Return a writable float64 copy of matrices (..., 4, 4) from a file, whose last row is 0 0 0 1 exactly.

    A file's last row is written, not computed: it may be off by `tolerance` only, however large the matrix is.
    """
    matrices: Floats = floats(name, value, shape).astype(np.float64)
    _check_last_rows(name, matrices, tolerance)
    matrices[..., 3, :] = (0, 0, 0, 1)
    return matrices


def names(name: str, value: Sequence[str], count: int) -> tuple[str, ...]:
    """Return `value` as a tuple of `count` distinct, non-empty strings."""
    if isinstance(value, str):
        raise InputError(f"{name}: expected a list of names, got the one string {value!r}")
    result = tuple(value)
    if len(result) != count:
        raise InputError(f"{name}: expected {count}, got {len(result)}")
    seen: set[str] = set()
    for entry in result:
        if not isinstance(entry, str) or not entry:
            raise InputError(f"{name}: expected non-empty strings, got {entry!r}")
        if entry in seen:
            raise InputError(f"{name}: expected each name once, got {entry!r} twice")
        seen.add(entry)
    return result


def choice(name: str, value: str, allowed: Sequence[str]) -> str:
    """Return `value` if it is one of `allowed`."""
    if value not in allowed:
        close = suggestion(str(value), allowed, listed=True)
        raise InputError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}{close}")
    return value


def kind(name: str, value: object, wanted: type) -> None:
    """Raise unless `value` is an instance of `wanted`; the message names the attribute of `value` that is one."""
    if not isinstance(value, wanted):
        part = wanted.__name__.lower()
        remedy = f"; pass its .{part}" if hasattr(value, part) else ""
        raise InputError(f"{name}: expected a {wanted.__name__}, got {type(value).__name__}{remedy}")


def whole(name: str, value: Any) -> int:
    """Return `value` if it is a whole number."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name}: expected a whole number, got {value!r}")
    return int(value)


def count(name: str, value: Any) -> int:
    """Return `value` if it is a whole number of at least 1."""
    if whole(name, value) < 1:
        raise InputError(f"{name}: expected at least 1, got {value}")
    return int(value)


def number(name: str, value: Any) -> float:
    """Return `value` if it is a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name}: expected a number, got {value!r}")
    return float(value)


def bits(value: Any) -> int:
    """Return `value` if it is a number of bits that stored numbers can have."""
    if whole("bits", value) not in (32, 16, 8):
        raise InputError(f"bits: expected 32, 16 or 8, got {value}")
    return int(value)


def _array(name: str, value: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name}: expected an array, got {type(value).__name__} ({error})") from error


def _check_shape(name: str, array: NDArray[Any], shape: Sequence[int | str]) -> None:
    fits = array.ndim == len(shape) and all(
        isinstance(wanted, str) or wanted == length for wanted, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        expected = ", ".join(map(str, shape))
        raise InputError(f"{name}: expected shape ({expected}), got {array.shape}")


def _check_last_rows(name: str, matrices: Floats, tolerance: float, columns: Sequence[str] = ()) -> None:
    off = np.abs(matrices[..., 3, :] - (0, 0, 0, 1)).max(axis=-1, initial=0.0) > tolerance
    if off.any():
        where = int(np.argwhere(np.atleast_1d(off))[0][-1])
        whose = f" of joint {columns[where]!r}" if where < len(columns) else ""
        raise InputError(f"{name}{whose}: expected 0 0 0 1 as last row; matrices act on columns, so pass the transpose")


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
