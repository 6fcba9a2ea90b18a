"""The outside of a glTF file to be written: accessors, dense or sparse, and the two containers, .glb and .gltf."""

from __future__ import annotations

import base64
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.errors import FileError
from posespace.formats import files
from posespace.formats.gltf import meshopt

VERTICES, INDICES = 34962, 34963
_CODES = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
_KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_MOST_BYTES = 2**32 - 1
"""A GLB file stores its length in 32 bits."""


class Output:
    """Collects the arrays of a file and writes them with its JSON."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._views: list[dict[str, Any]] = []
        self._kinds: list[tuple[str, int] | None] = []
        self._accessors: list[dict[str, Any]] = []
        self._nothing: dict[int, int] = {}
        self._places: dict[bytes, int] = {}

    def add(
        self, values: NDArray[Any], target: int | None = None, bounds: bool = False, normalized: bool = False
    ) -> int:
        """Add an array (n,) or (n, components) in its own type; returns the accessor.

        Parameters
        ----------
        values : whole numbers of 8, 16 or 32 bits, or float32
        target : VERTICES or INDICES for what a mesh is drawn from
        bounds : also write the smallest and largest, which positions and times must have
        normalized : whole numbers stand for fractions of their largest
        """
        entry: dict[str, Any] = {"bufferView": self._view(values, target)}
        if bounds:
            table = values.reshape(len(values), -1)
            entry |= {"min": table.min(axis=0).tolist(), "max": table.max(axis=0).tolist()}
        return self._accessor(values, len(values), _marked(entry, normalized))

    def add_sparse(self, support: Ints, values: NDArray[Any], count: int) -> int:
        """Add the displacements (S, 3) of some of `count` vertices, ascending; sparse where that is smaller.

        They are real numbers, or whole numbers of 8 or 16 bits that stand for fractions.
        """
        if not values.any():
            return self._zeros(count)
        whole = values.dtype.kind == "i"
        rows, entries = support.astype(smallest_type(count)), values if whole else values.astype(np.float32)
        size = 3 * entries.itemsize
        if len(rows) * (size + rows.itemsize) >= size * count:
            dense = np.zeros((count, 3), entries.dtype)
            dense[rows] = entries
            return self.add(dense, VERTICES, bounds=True, normalized=whole)
        low, high = entries.min(axis=0), entries.max(axis=0)
        sparse = {
            "count": len(rows),
            "indices": {"bufferView": self._places_view(rows), "componentType": _CODES[rows.dtype.name]},
            "values": {"bufferView": self._view(entries)},
        }
        bounds = {"min": np.minimum(low, 0).tolist(), "max": np.maximum(high, 0).tolist()}
        return self._accessor(entries, count, _marked({**bounds, "sparse": sparse}, whole))

    def add_bytes(self, content: bytes) -> int:
        """Add bytes as they are, an image file say; returns the buffer view."""
        return self._view(np.frombuffer(content, np.uint8), kind=None)

    def add_numbers(self, values: Floats) -> int:
        """Add numbers in double precision, which no accessor can have; returns the buffer view."""
        return self._view(np.asarray(values, dtype=np.float64))

    def save(self, path: Path, parts: dict[str, Any], compressed: bool = False) -> None:
        """Write the file at once or not at all: `.glb`, or `.gltf` with its data inside; `compressed` by meshopt."""
        views, data, more = self._views, bytes(self._data), list[dict[str, Any]]()
        if compressed:
            views, data, length = meshopt.encoded(self._views, self._kinds, data)
            more = [{"byteLength": length, "extensions": {meshopt.EXTENSION: {"fallback": True}}}]
        packed = path.suffix.lower() == ".glb"
        uri = {} if packed else {"uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}
        whole = {
            "asset": {"version": "2.0", "generator": "posespace"},
            **parts,
            "accessors": self._accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": len(data), **uri}, *more],
        }
        save_container(path, whole, data if packed else None)

    def _zeros(self, count: int) -> int:
        if count not in self._nothing:
            still = {"min": [0.0] * 3, "max": [0.0] * 3}
            self._nothing[count] = self._accessor(np.zeros((1, 3), np.float32), count, still)
        return self._nothing[count]

    def _places_view(self, rows: NDArray[Any]) -> int:
        """The view of a sparse accessor's indices; targets that move the same vertices share one."""
        key = rows.tobytes()
        if key not in self._places:
            self._places[key] = self._view(rows, kind=meshopt.SEQUENCE)
        return self._places[key]

    def _accessor(self, like: NDArray[Any], count: int, entry: dict[str, Any]) -> int:
        kind = _KINDS[1 if like.ndim == 1 else like.shape[1]]
        self._accessors.append({"componentType": _CODES[like.dtype.name], "type": kind, "count": count, **entry})
        return len(self._accessors) - 1

    def _view(self, values: NDArray[Any], target: int | None = None, kind: str | None = meshopt.ATTRIBUTES) -> int:
        """Add a buffer view; rows of vertices start at multiples of four bytes. `kind` is what may be compressed."""
        table = _aligned(values) if target == VERTICES else values
        raw = np.ascontiguousarray(table, table.dtype.newbyteorder("<")).tobytes()
        entry: dict[str, Any] = {"buffer": 0, "byteOffset": len(self._data), "byteLength": len(raw)}
        row = table.itemsize * math.prod(table.shape[1:])
        entry |= {"byteStride": row} if table is not values else {}
        self._views.append(entry if target is None else {**entry, "target": target})
        chosen = meshopt.TRIANGLES if target == INDICES else kind
        self._kinds.append(None if chosen is None else (chosen, row))
        self._data += raw + b"\0" * (-len(raw) % 4)
        return len(self._views) - 1


def save_container(path: Path, content: dict[str, Any], binary: bytes | memoryview | None) -> None:
    """Write the JSON of a file at once or not at all: as `.glb`, with its binary part if it has one, or `.gltf`."""
    try:
        text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        # What came from a file of others may hold NaN, or lists in lists without end.
        raise FileError(path, f"cannot be written as JSON ({error})") from error
    packed = path.suffix.lower() == ".glb"
    chunks = _chunk(b"JSON", text, b" ") if packed else b""
    if packed and binary is not None:
        chunks += _chunk(b"BIN\0", bytes(binary), b"\0")
    if len(chunks) + 12 > _MOST_BYTES:
        raise FileError(path, "would be more than 4 GB, the most a GLB file can be; keep fewer components")
    with files.atomic_write(path) as temporary:
        temporary.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks if packed else text)


def _aligned(values: NDArray[Any]) -> NDArray[Any]:
    """Return rows (n, components) with zeros behind, to a multiple of four bytes."""
    over = values.itemsize * values.shape[1] % 4
    return np.pad(values, ((0, 0), (0, (4 - over) // values.itemsize))) if over else values


def _marked(entry: dict[str, Any], normalized: bool) -> dict[str, Any]:
    return {**entry, "normalized": True} if normalized else entry


def smallest_type(count: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that numbers `count` vertices; its last number is left to the format."""
    return np.dtype(np.uint16 if count < 2**16 else np.uint32)


def _chunk(kind: bytes, body: bytes, fill: bytes) -> bytes:
    padded = body + fill * (-len(body) % 4)
    return struct.pack("<I", len(padded)) + kind + padded
