"""The skin file: one safetensors file of arrays and a versioned JSON description. Loading reads it and runs no code."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import FileError, InputError
from posespace.formats import files, records
from posespace.formats.checked_json import Fields, shown
from posespace.skin.skin import Skin

VERSION = 1
_KEY = "posespace"
_MOST_HEADER = 100_000_000
_TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
}


def write(path: Path, skin: Skin) -> None:
    """Write `skin` to `path` atomically."""
    from safetensors.numpy import save

    writer = records.Writer()
    description = {"kind": "skin", "version": VERSION, "skin": records.write_skin(skin, writer)}
    content = save(writer.arrays, metadata={_KEY: json.dumps(description, ensure_ascii=False)})
    if len(content) > files.MOST_BYTES:
        remedy = "fewer components, or a packed skin (skin.packed()), need less"
        raise FileError(path, f"would be {len(content)} bytes; at most {files.MOST_BYTES} are read: {remedy}")
    with files.atomic_write(path) as temporary:
        temporary.write_bytes(content)


def read(path: Path) -> Skin:
    """Open a skin file; its arrays are read-only views of the bytes that were read."""
    arrays, metadata = read_tensors(path)
    if _KEY not in metadata:
        raise FileError(path, "is a safetensors file, but not a posespace skin")
    description = files.parse_json(path, metadata[_KEY])
    with files.naming(path):
        record = records.Record(description, arrays)
        record.require("skin", VERSION)
        return records.read_skin(record.record("skin"))


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Read a safetensors file: its arrays, as read-only views of one block of memory, and its metadata.

    Every offset is checked. Read and not mapped: a map shows whatever happens to the file later, and ends the process
    where the file has become shorter.
    """
    view = memoryview(files.read_bytes(path))
    if len(view) < 8:
        raise FileError(path, f"is {len(view)} bytes, too short for a skin")
    length = int.from_bytes(view[:8], "little")
    if length > min(len(view) - 8, _MOST_HEADER):
        raise FileError(path, f"is not a skin or is cut short (a header of {length} bytes in a file of {len(view)})")
    with files.naming(path):
        header = Fields(files.parse_json(path, bytes(view[8 : 8 + length])), "its header")
        metadata = header.part("__metadata__", {})
        data = view[8 + length :]
        arrays = {name: _tensor(header.part(name), data) for name in header if name != "__metadata__"}
        return arrays, {name: metadata.text(name) for name in metadata}


def _tensor(fields: Fields, data: memoryview) -> NDArray[Any]:
    kind, shape, span = fields.text("dtype"), fields.shape("shape"), fields.integers("data_offsets", len(data) + 1)
    if kind not in _TYPES:
        raise InputError(f"{fields.where}: dtype: expected one of {', '.join(_TYPES)}, got {shown(kind)}")
    dtype, (start, end) = _TYPES[kind], (*span, -1, -1)[:2]
    if len(span) != 2 or math.prod(shape) * dtype.itemsize != end - start:
        raise InputError(f"{fields.where}: is damaged or cut short (its shape does not fit its place)")
    array: NDArray[Any] = np.frombuffer(data[start:end], dtype)
    return array.reshape(shape)
