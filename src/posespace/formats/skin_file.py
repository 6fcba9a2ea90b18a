"""The skin file: one safetensors file, arrays beside a versioned JSON description. Loading maps it and runs no code."""

from __future__ import annotations

import json
import math
import mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import FileError
from posespace.formats import files, records
from posespace.skin import Skin

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
    with files.atomic_write(path) as temporary:
        temporary.write_bytes(content)


def read(path: Path) -> Skin:
    """Open a skin file; its arrays are read-only views of the mapped file."""
    arrays, metadata = map_tensors(path)
    if _KEY not in metadata:
        raise FileError(path, "is a safetensors file, but not a posespace skin")
    description = files.parse_json(path, metadata[_KEY])
    with files.naming(path):
        record = records.Reader(description, arrays, "file")
        if record.text("kind") != "skin" or record.number("version") != VERSION:
            kind, version = description.get("kind"), description.get("version")
            raise FileError(path, f"expected a skin of version {VERSION}, got {kind!r} of version {version!r}")
        return records.read_skin(records.Reader(description.get("skin"), arrays, "skin"))


def map_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Map a safetensors file: its arrays, as read-only views, and its metadata. Every offset is checked."""
    size = files.size_of(path)
    if size < 8:
        raise FileError(path, f"is {size} bytes, too short for a skin")
    try:
        with path.open("rb") as handle:
            view = memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be mapped ({error})") from error
    length = int.from_bytes(view[:8], "little")
    if length > min(size - 8, _MOST_HEADER):
        raise FileError(path, f"is not a skin or is cut short (a header of {length} bytes in a file of {size})")
    header = files.parse_json(path, bytes(view[8 : 8 + length]))
    if not isinstance(header, dict):
        raise FileError(path, "is not a skin (its header is not a JSON object)")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FileError(path, "has a damaged header (metadata)")
    data = view[8 + length :]
    return {name: _tensor(path, name, entry, data) for name, entry in header.items()}, metadata


def _tensor(path: Path, name: str, entry: Any, data: memoryview) -> NDArray[Any]:
    fields = entry if isinstance(entry, dict) else {}
    dtype = _TYPES.get(str(fields.get("dtype")))
    shape, span = files.whole_numbers(fields.get("shape")), files.whole_numbers(fields.get("data_offsets"))
    if dtype is None or shape is None or span is None or len(span) != 2:
        raise FileError(path, f"has a damaged header (array {name!r})")
    start, end = span
    if not start <= end <= len(data) or math.prod(shape) * dtype.itemsize != end - start:
        raise FileError(path, f"is damaged or cut short (array {name!r} does not fit its place)")
    array: NDArray[Any] = np.frombuffer(data[start:end], dtype)
    return array.reshape(shape)
