"""The outside of a glTF file to be written: accessors, dense or sparse, and the two containers, .glb and .gltf."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.errors import FileError
from posespace.formats import files

VERTICES, INDICES = 34962, 34963
_CODES = {"uint8": 5121, "uint16": 5123, "uint32": 5125, "float32": 5126}
_KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_MOST_BYTES = 2**32 - 1
"""A GLB file stores its length in 32 bits."""


class Output:
    """Collects the arrays of a file and writes them with its JSON."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._views: list[dict[str, int]] = []
        self._accessors: list[dict[str, Any]] = []
        self._nothing: dict[int, int] = {}
        self._places: dict[bytes, int] = {}

    def add(self, values: NDArray[Any], target: int | None = None, bounds: bool = False) -> int:
        """Add an array (n,) or (n, components) in its own type; returns the accessor.

        Parameters
        ----------
        values : uint8, uint16, uint32 or float32
        target : VERTICES or INDICES for what a mesh is drawn from
        bounds : also write the smallest and largest, which positions and times must have
        """
        entry: dict[str, Any] = {"bufferView": self._view(values, target)}
        if bounds:
            table = values.reshape(len(values), -1)
            entry |= {"min": table.min(axis=0).tolist(), "max": table.max(axis=0).tolist()}
        return self._accessor(values, len(values), entry)

    def add_sparse(self, support: Ints, values: Floats, count: int) -> int:
        """Add the displacements (S, 3) of some of `count` vertices, ascending; sparse where that is smaller."""
        moved = (values != 0).any(axis=1)
        rows, entries = support[moved].astype(smallest_type(count)), values[moved].astype(np.float32)
        if not len(rows):
            return self._zeros(count)
        if len(rows) * (12 + rows.itemsize) >= 12 * count:
            dense = np.zeros((count, 3), np.float32)
            dense[rows] = entries
            return self.add(dense, VERTICES, bounds=True)
        low, high = entries.min(axis=0), entries.max(axis=0)
        sparse = {
            "count": len(rows),
            "indices": {"bufferView": self._places_view(rows), "componentType": _CODES[rows.dtype.name]},
            "values": {"bufferView": self._view(entries)},
        }
        bounds = {"min": np.minimum(low, 0).tolist(), "max": np.maximum(high, 0).tolist()}
        return self._accessor(entries, count, {**bounds, "sparse": sparse})

    def add_bytes(self, content: bytes) -> int:
        """Add bytes as they are, an image file say; returns the buffer view."""
        return self._view(np.frombuffer(content, np.uint8))

    def save(self, path: Path, parts: dict[str, Any]) -> None:
        """Write the file at once or not at all: `.glb`, or `.gltf` with its data inside."""
        packed = path.suffix.lower() == ".glb"
        uri = {} if packed else {"uri": "data:application/octet-stream;base64," + base64.b64encode(self._data).decode()}
        whole = {
            "asset": {"version": "2.0", "generator": "posespace"},
            **parts,
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._data), **uri}],
        }
        text = json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()
        chunks = _chunk(b"JSON", text, b" ") + _chunk(b"BIN\0", bytes(self._data), b"\0") if packed else b""
        if len(chunks) + 12 > _MOST_BYTES:
            raise FileError(path, "would be more than 4 GB, the most a GLB file can be; keep fewer components")
        with files.atomic_write(path) as temporary:
            temporary.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks if packed else text)

    def _zeros(self, count: int) -> int:
        if count not in self._nothing:
            still = {"min": [0.0] * 3, "max": [0.0] * 3}
            self._nothing[count] = self._accessor(np.zeros((1, 3), np.float32), count, still)
        return self._nothing[count]

    def _places_view(self, rows: NDArray[Any]) -> int:
        """The view of a sparse accessor's indices; targets that move the same vertices share one."""
        key = rows.tobytes()
        if key not in self._places:
            self._places[key] = self._view(rows)
        return self._places[key]

    def _accessor(self, like: NDArray[Any], count: int, entry: dict[str, Any]) -> int:
        kind = _KINDS[1 if like.ndim == 1 else like.shape[1]]
        self._accessors.append({"componentType": _CODES[like.dtype.name], "type": kind, "count": count, **entry})
        return len(self._accessors) - 1

    def _view(self, values: NDArray[Any], target: int | None = None) -> int:
        raw = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
        entry = {"buffer": 0, "byteOffset": len(self._data), "byteLength": len(raw)}
        self._views.append(entry if target is None else {**entry, "target": target})
        self._data += raw + b"\0" * (-len(raw) % 4)
        return len(self._views) - 1


def smallest_type(count: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that numbers `count` vertices; its last number is left to the format."""
    return np.dtype(np.uint16 if count < 2**16 else np.uint32)


def _chunk(kind: bytes, body: bytes, fill: bytes) -> bytes:
    padded = body + fill * (-len(body) % 4)
    return struct.pack("<I", len(padded)) + kind + padded
