"""The filters of `EXT_meshopt_compression` undone: rows that were stored in fewer bits than they are used in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import InputError

Bytes = NDArray[np.uint8]
Numbers = NDArray[Any]


def unfiltered(rows: Bytes, name: str) -> Bytes:
    """Return rows (n, stride) of bytes as they are used; `name` is the filter's, "NONE" for none."""
    if name == "NONE":
        return rows
    if name not in _FILTERS:
        raise InputError(f"filter: expected NONE, {', '.join(_FILTERS)}, got {name!r:.40}")
    strides, undo = _FILTERS[name]
    if strides and rows.shape[1] not in strides:
        raise InputError(f"filter {name}: expected rows of {' or '.join(map(str, strides))} bytes, got {rows.shape[1]}")
    # Hostile rows have no direction, or one beyond all bounds; what comes of them is checked where it is used.
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(undo(rows)).view(np.uint8).reshape(rows.shape)


def _octahedral(rows: Bytes) -> Numbers:
    """Unit vectors from where they lie on an octahedron; the fourth number stays."""
    stored = rows.view(f"<i{rows.shape[1] // 4}")
    x, y, one = stored[:, :3].astype(np.float32).T
    z = one - np.abs(x) - np.abs(y)
    fold = np.minimum(z, 0)
    folded = np.stack([x + np.where(x >= 0, fold, -fold), y + np.where(y >= 0, fold, -fold), z], axis=1)
    length = np.sqrt((folded * folded).sum(axis=1, keepdims=True))
    largest = np.float32(np.iinfo(stored.dtype).max)
    return np.concatenate([_rounded(folded * (largest / length), stored.dtype), stored[:, 3:]], axis=1)


def _quaternion(rows: Bytes) -> Numbers:
    """Unit quaternions from their three smallest numbers; the fourth stored number says how they are scaled."""
    stored = rows.view("<i2")
    scale = np.float32(np.sqrt(0.5)) / (stored[:, 3:] | 3).astype(np.float32)
    three = stored[:, :3].astype(np.float32) * scale
    largest = np.sqrt(np.maximum(0, 1 - (three * three).sum(axis=1, keepdims=True)))
    made = np.zeros(stored.shape, stored.dtype)
    components = ((stored[:, 3:] & 3) + np.arange(1, 5)) & 3
    whole = _rounded(np.concatenate([three, largest], axis=1) * np.float32(32767), stored.dtype)
    np.put_along_axis(made, components.astype(np.int64), whole, axis=1)
    return made


def _exponential(rows: Bytes) -> Numbers:
    """Real numbers from 24 bits of a whole number and 8 of an exponent of two."""
    stored = rows.view("<i4")
    made: Numbers = np.ldexp(((stored << 8) >> 8).astype(np.float32), stored >> 24)
    return made.astype("<f4")


def _colour(rows: Bytes) -> Numbers:
    """Red, green, blue and alpha from brightness, two differences of colours, and alpha with the scale of all."""
    width = rows.shape[1] // 4
    stored = rows.view(f"<u{width}")
    alpha = stored[:, 3:].astype(np.int64)
    scale = alpha.copy()
    for step in (1, 2, 4, 8):
        scale |= scale >> step
    bright = stored[:, :1].astype(np.int64)
    orange, green = (rows.view(f"<i{width}")[:, k : k + 1].astype(np.int64) for k in (1, 2))
    alpha = ((alpha << 1) & scale) | (alpha & 1)
    colours = np.concatenate([bright + orange - green, bright + green, bright - orange - green, alpha], axis=1)
    factor = np.float32(np.iinfo(stored.dtype).max) / scale.astype(np.float32)
    return _rounded(colours.astype(np.float32) * factor, stored.dtype)


def _rounded(values: Numbers, kind: np.dtype[Any]) -> Numbers:
    """Return the nearest whole numbers, halves away from zero."""
    nearest: Numbers = np.trunc(values + np.copysign(np.float32(0.5), values))
    return nearest.astype(np.int32).astype(kind)


_FILTERS: dict[str, tuple[tuple[int, ...], Callable[[Bytes], Numbers]]] = {
    "OCTAHEDRAL": ((4, 8), _octahedral),
    "QUATERNION": ((8,), _quaternion),
    "EXPONENTIAL": ((), _exponential),
    "COLOR": ((4, 8), _colour),
}
"""By name: the bytes that rows may have (none: any multiple of four), and what undoes it."""
