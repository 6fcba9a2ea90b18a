"""Buffer views compressed by meshoptimizer, as `EXT_meshopt_compression` stores them: encoding and decoding.

What is written is encoded by meshoptimizer itself, from the extra `meshopt`. What is read may be hostile: it is decoded
by `meshopt_codec`, which no buffer can lead outside of its arrays, and which needs no extra.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import InputError, require
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.meshopt_filters import unfiltered

EXTENSION = "EXT_meshopt_compression"
READ = (EXTENSION, "KHR_meshopt_compression")
"""The names under which it is read: the newer one has the same fields."""

ATTRIBUTES, TRIANGLES, SEQUENCE = "ATTRIBUTES", "TRIANGLES", "INDICES"
"""What a view holds: rows of numbers, the corners of triangles, or ascending whole numbers."""

_WIDEST = 256

Json = dict[str, Any]


def encoded(
    views: Sequence[Json], kinds: Sequence[tuple[str, int] | None], data: bytes
) -> tuple[list[Json], bytes, int]:
    """Return the views of a file compressed, their bytes, and how many bytes they are when decoded.

    Parameters
    ----------
    views : of one buffer
    kinds : what each holds and the bytes of its rows; None: it stays as it is
    data : that buffer
    """
    codec = require("meshopt", "meshopt", "writing files compressed by meshopt")
    packed, made, length = bytearray(), list[Json](), 0
    for view, kind in zip(views, kinds, strict=True):
        raw = data[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        if kind is None:
            made.append({**view, "byteOffset": len(packed)})
            packed += raw + b"\0" * (-len(raw) % 4)
            continue
        mode, size = kind
        # Rows of attributes are a multiple of four bytes: two or four narrow ones count as one.
        stride = math.lcm(size, 4) if mode == ATTRIBUTES else size
        raw += b"\0" * (-len(raw) % stride)
        table = np.frombuffer(raw, np.uint8 if mode == ATTRIBUTES else f"<u{size}")
        content = codec.encode_gltf_buffer(table.reshape(-1, stride) if mode == ATTRIBUTES else table, mode)
        extension: Json = {"buffer": 0, "byteOffset": len(packed), "byteLength": len(content), "byteStride": stride}
        extension |= {"count": len(raw) // stride, "mode": mode}
        view_range = {"buffer": 1, "byteOffset": length, "byteLength": len(raw)}
        made.append({**view, **view_range, "extensions": {EXTENSION: extension}})
        packed += content + b"\0" * (-len(content) % 4)
        length += len(raw) + -len(raw) % 4
    return made, bytes(packed), length


def decoded(fields: Fields, content: memoryview, length: int) -> memoryview:
    """Return the `length` bytes of a view; `fields` are its extension's, `content` what is stored."""
    count, stride, mode = fields.integer("count"), fields.integer("byteStride"), fields.text("mode")
    if mode not in (ATTRIBUTES, TRIANGLES, SEQUENCE):
        raise InputError(f"{fields.where}: mode: expected {ATTRIBUTES}, {TRIANGLES} or {SEQUENCE}, got {mode!r:.40}")
    fits = 0 < stride <= _WIDEST and stride % 4 == 0 if mode == ATTRIBUTES else stride in (2, 4)
    if not fits or count * stride != length:
        raise InputError(f"{fields.where}: expected {length} bytes in rows of 4 to 256, got {count} of {stride}")
    if not count:
        return memoryview(b"")
    try:
        return memoryview(
            _decoded(np.frombuffer(content, np.uint8), count, stride, mode, fields.text("filter", "NONE"))
        )
    except IndexError as error:
        raise InputError(f"{fields.where}: its compressed bytes are damaged: they end too early") from error
    except InputError as error:
        raise InputError(f"{fields.where}: {error}") from error


def _decoded(content: NDArray[np.uint8], count: int, stride: int, mode: str, rule: str) -> bytes:
    # Only now: few files are compressed, and compiled loops take a while to load.
    from posespace.formats.gltf import meshopt_codec

    if mode == ATTRIBUTES:
        return unfiltered(meshopt_codec.vertex_rows(content, count, stride), rule).tobytes()
    decode = meshopt_codec.triangle_corners if mode == TRIANGLES else meshopt_codec.index_sequence
    return decode(content, count).astype(f"<u{stride}").tobytes()
