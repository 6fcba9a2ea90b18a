"""What meshoptimizer's encoder wrote, decoded: rows of vertices, the corners of triangles, sequences of indices.

Every read is checked against the end of its array by the compiler (`boundscheck`), so that a hostile buffer ends in an
error and never outside of it. The layouts are those of `EXT_meshopt_compression` and `KHR_meshopt_compression`, whose
appendices name the parts; the filters that rows may have passed are in `meshopt_filters`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import InputError
from posespace.jit import njit

Bytes = NDArray[np.uint8]

_VERTICES, _TRIANGLES, _SEQUENCE = 0xA0, 0xE0, 0xD0
"""The high half of the first byte; the low half is the version."""
_GROUP = 16
"""Rows whose bytes are packed together."""
_BITS = np.array([[0, 2, 4, 8, 0], [0, 1, 2, 4, 8]])
"""By version, the bits of a group's numbers; in version 1 a byte chooses the first or the last four."""

_compiled = njit(boundscheck=True)


def vertex_rows(content: Bytes, count: int, stride: int) -> Bytes:
    """Return the rows (count, stride) of a vertex buffer."""
    version = _version(content, _VERTICES)
    tail = stride + (stride // 4 if version else 0)
    padded = max(tail, 24 if version else 32)
    end = len(content) - padded
    rows = np.zeros((count, stride), np.uint8)
    if end < 1:
        raise InputError("its compressed bytes end too early")
    used = _rows(content[:end], content[len(content) - tail :], version, _BITS[version], rows)
    return _whole(rows, used, end)


def triangle_corners(content: Bytes, count: int) -> NDArray[np.uint32]:
    """Return the corners (count,) of an index buffer, three for each triangle."""
    version = _version(content, _TRIANGLES)
    corners, end = np.zeros(count, np.uint32), len(content) - 16
    if count % 3 or end < 1 + count // 3:
        raise InputError("its compressed bytes end too early")
    used = _triangles(content[:end], content[end:], 13 if version else 15, corners)
    return _whole(corners, used, end)


def index_sequence(content: Bytes, count: int) -> NDArray[np.uint32]:
    """Return the indices (count,) of an index sequence."""
    _version(content, _SEQUENCE)
    indices, end = np.zeros(count, np.uint32), len(content) - 4
    if end < 1 + count:
        raise InputError("its compressed bytes end too early")
    return _whole(indices, _sequence(content[:end], indices), end)


def _version(content: Bytes, kind: int) -> int:
    head = int(content[0]) if len(content) else 0
    if head & 0xF0 != kind or head & 0x0F > 1:
        raise InputError(f"expected compressed bytes that start with {kind:#x} or {kind + 1:#x}, got {head:#x}")
    return head & 0x0F


def _whole(made: NDArray[Any], used: int, end: int) -> NDArray[Any]:
    """Return what was decoded where exactly all bytes were used."""
    if used != end:
        raise InputError(f"its compressed bytes are damaged: {used} of {end} are used")
    return made


@_compiled
def _rows(data: Bytes, tail: Bytes, version: int, bits: NDArray[Any], rows: Bytes) -> int:
    """Write the rows; returns how many bytes of `data` they took. `tail` has the row before the first."""
    count, stride = rows.shape
    block = min(256, 8192 // stride // _GROUP * _GROUP)
    planes = np.zeros((4, 256), np.uint8)
    before = tail[:stride].copy()
    at = 1
    for start in range(0, count, block):
        size = min(block, count - start)
        control = at
        at += stride // 4 if version else 0
        for four in range(0, stride, 4):
            for plane in range(4):
                mode = (data[control + four // 4] >> (2 * plane)) & 3 if version else 0
                if mode == 3:
                    for row in range(size):
                        planes[plane, row] = data[at + row]
                    at += size
                elif mode == 2:
                    planes[plane] = 0
                else:
                    at = _plane(data, at, bits[mode : mode + 4], size, planes[plane])
            channel = tail[stride + four // 4] if version else 0
            _deltas(planes, channel, before[four : four + 4], rows[start : start + size, four : four + 4])
    return at


@_compiled
def _plane(data: Bytes, at: int, bits: NDArray[Any], size: int, out: Bytes) -> int:
    """Write one byte of each of `size` rows; returns where its data end."""
    groups = (size + _GROUP - 1) // _GROUP
    head = at
    at += (groups + 3) // 4
    for group in range(groups):
        wide = bits[(data[head + group // 4] >> (2 * (group % 4))) & 3]
        # Numbers too large for their bits are marked by all bits set, and follow as bytes.
        mark, extra = (1 << wide) - 1, at + 2 * wide
        for k in range(_GROUP):
            value = 0
            if wide == 8:
                value = data[at + k]
            elif wide > 0:
                bit = k * wide
                up = bit % 8 if wide == 1 else 8 - wide - bit % 8
                value = (data[at + bit // 8] >> up) & mark
                if value == mark:
                    value = data[extra]
                    extra += 1
            out[_GROUP * group + k] = value
        at = extra
    return at


@_compiled
def _deltas(planes: Bytes, channel: int, before: Bytes, out: Bytes) -> None:
    """Write four bytes of each row (n, 4) from their differences to the row before; `before` becomes the last one."""
    kind = channel & 3
    size = 1 << min(kind, 2)
    whole = (1 << (8 * size)) - 1
    rotation = (32 - (channel >> 4)) & 31
    for first in range(0, 4, size):
        last = np.int64(0)
        for k in range(size):
            last |= np.int64(before[first + k]) << (8 * k)
        for row in range(len(out)):
            value = np.int64(0)
            for k in range(size):
                value |= np.int64(planes[first + k, row]) << (8 * k)
            if kind < 2:
                last = (last + _signed(value)) & whole
            else:
                last ^= ((value << rotation) | (value >> (32 - rotation))) & whole
            for k in range(size):
                out[row, first + k] = (last >> (8 * k)) & 255
        for k in range(size):
            before[first + k] = (last >> (8 * k)) & 255


@_compiled
def _number(data: Bytes, at: int) -> tuple[Any, int]:
    """Return a number of one to five bytes, seven bits each, and where it ends."""
    value = np.int64(0)
    for k in range(5):
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 127) << (7 * k)
        if byte < 128:
            break
    return value & 0xFFFFFFFF, at


@_compiled
def _signed(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


@_compiled
def _sequence(data: Bytes, indices: NDArray[Any]) -> int:
    """Write the indices; returns how many bytes they took."""
    last = np.zeros(2, np.int64)
    at = 1
    for k in range(len(indices)):
        value, at = _number(data, at)
        which = value & 1
        last[which] = (last[which] + _signed(value >> 1)) & 0xFFFFFFFF
        indices[k] = last[which]
    return at


@_compiled
def _triangles(data: Bytes, table: Bytes, nearest: int, corners: NDArray[Any]) -> int:
    """Write the corners; returns how many bytes they took. `table` has the sixteen commonest pairs of codes.

    A code below `nearest` is a vertex of the recent ones; 13 and 14 are a step from the last index.
    """
    edges, recent = np.full((16, 2), 0xFFFFFFFF, np.int64), np.full(16, 0xFFFFFFFF, np.int64)
    # What is next and last among indices, and where the next edge and vertex are kept.
    state = np.zeros(4, np.int64)
    at = 1 + len(corners) // 3
    for k in range(0, len(corners), 3):
        code = np.int64(data[1 + k // 3])
        if code < 0xF0:
            edge = (state[2] - 1 - (code >> 4)) & 15
            a, b = edges[edge, 0], edges[edge, 1]
            c, at = _third(data, at, code & 15, nearest, recent, state)
            _keep_edge(edges, state, c, b)
            _keep_edge(edges, state, a, c)
        else:
            a, b, c, at = _three(data, at, code, table, recent, state)
            _keep_edge(edges, state, b, a)
            _keep_edge(edges, state, c, b)
            _keep_edge(edges, state, a, c)
        corners[k], corners[k + 1], corners[k + 2] = a, b, c
    return at


@_compiled
def _third(data: Bytes, at: int, code: int, nearest: int, recent: NDArray[Any], state: NDArray[Any]) -> tuple[int, int]:
    """Return the third corner of a triangle on a recent edge, and where its data end."""
    if code == 0:
        corner = state[0]
        state[0] += 1
    elif code < nearest:
        return recent[(state[3] - 1 - code) & 15], at
    else:
        step = code - (code ^ 3)
        if code == 15:
            value, at = _number(data, at)
            step = _signed(value)
        corner = (state[1] + step) & 0xFFFFFFFF
        state[1] = corner
    _keep_vertex(recent, state, corner)
    return corner, at


@_compiled
def _three(
    data: Bytes, at: int, code: int, table: Bytes, recent: NDArray[Any], state: NDArray[Any]
) -> tuple[int, int, int, int]:
    """Return the corners of a triangle on no recent edge, and where its data end."""
    if code < 0xFE:
        pair = np.int64(table[code & 15])
    else:
        pair = np.int64(data[at])
        at += 1
        state[0] = 0 if pair == 0 else state[0]
    codes = (0 if code < 0xFF else 15, pair >> 4, pair & 15)
    corners = np.zeros(3, np.int64)
    for k in range(3):
        if codes[k] == 0:
            corners[k] = state[0]
            state[0] += 1
        elif codes[k] < 15:
            corners[k] = recent[(state[3] - codes[k]) & 15]
    for k in range(3):
        if codes[k] == 15:
            value, at = _number(data, at)
            state[1] = (state[1] + _signed(value)) & 0xFFFFFFFF
            corners[k] = state[1]
    for k in range(3):
        if codes[k] in (0, 15):
            _keep_vertex(recent, state, corners[k])
    return corners[0], corners[1], corners[2], at


@_compiled
def _keep_edge(edges: NDArray[Any], state: NDArray[Any], a: int, b: int) -> None:
    edges[state[2] & 15, 0], edges[state[2] & 15, 1] = a, b
    state[2] += 1


@_compiled
def _keep_vertex(recent: NDArray[Any], state: NDArray[Any], vertex: int) -> None:
    recent[state[3] & 15] = vertex
    state[3] += 1
