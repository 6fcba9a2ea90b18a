"""The outside of a glTF file: its container, its checked JSON, and its accessors as NumPy arrays.

What the arrays mean (nodes, meshes, skins, animation) is in the other `gltf` files.
"""

from __future__ import annotations

import base64
import re
import struct
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.budget import Budget
from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files
from posespace.formats.checked_json import Fields, shown
from posespace.formats.gltf import meshopt

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
"""Components per element, of the types that are used here."""

_UNREAD = ("KHR_draco_mesh_compression",)
_READ = ("KHR_mesh_quantization", *meshopt.READ)
_JSON_CHUNK, _BINARY_CHUNK = 0x4E4F534A, 0x004E4942


class Document:
    """An opened glTF file: its JSON, its buffers, and notes about what was left out.

    Parameters
    ----------
    path : the file
    """

    def __init__(self, path: Path) -> None:
        data = files.read_bytes(path)
        text, self.binary = _unpack(path, data)
        """The binary part of a GLB file; None where it has none."""
        self.path = path
        self.root = Fields(files.parse_json(path, text), "the file")
        self.budget = Budget(len(data))
        """What the file may still ask for."""
        self._notes: Counter[str] = Counter()
        self._loaded: dict[int | Path, memoryview] = {}
        self._decoded: dict[int, memoryview] = {}
        self._check_version()
        self.accessor_count = self.root.length("accessors")
        """How many accessors the file has."""
        self._view_count, self._buffer_count = self.root.length("bufferViews"), self.root.length("buffers")

    @property
    def notes(self) -> tuple[str, ...]:
        """One line each about what was repaired or left out."""
        return tuple(text if times == 1 else f"{text} ({times} times)" for text, times in self._notes.items())

    def note(self, text: str) -> None:
        """Remember something that was repaired or left out; the same text is counted."""
        self._notes[text] += 1

    def count(self, index: int) -> int:
        """Return how many elements an accessor has, without reading it."""
        return self._accessor(index).integer("count")

    def kind(self, index: int) -> str:
        """Return the type that an accessor says it has: "VEC3", ..."""
        return self._accessor(index).text("type", "")

    def bytes_of(self, fields: Fields) -> memoryview:
        """Return the bytes that an object of the file names, by its buffer view or its URI; they are not copied."""
        if "bufferView" in fields:
            data = self._view(fields.integer("bufferView", below=self._view_count))
        else:
            data = self._from_uri(fields)
        self.budget.hold(len(data) // 4, fields.where)
        return data

    def floats(self, index: int, kind: str, what: str, count: int | None = None) -> Floats:
        """Return an accessor as (count, components) float32; normalised integers are brought to [-1, 1].

        Parameters
        ----------
        index : number of the accessor
        kind : the type it must have: "VEC3", ...; a matrix comes column by column, as the file has it
        what : what it is for, for messages
        count : the number of elements it must have; None for any
        """
        values = self._read(index, kind, what, count)
        result: Floats = values.astype(np.float32)
        if self._accessor(index).flag("normalized", False) and values.dtype.kind in "iu":
            if values.dtype.itemsize > 2:
                raise InputError(f"accessor {index}: 32-bit integers cannot be normalised")
            result = np.maximum(result / np.float32(np.iinfo(values.dtype).max), np.float32(-1))
        return check.floats(f"{what}: accessor {index}", result, ("N", "C"))

    def integers(self, index: int, kind: str, what: str, count: int | None = None) -> NDArray[np.int64]:
        """Return an accessor of unsigned integers as (count, components); the arguments of `floats`."""
        values = self._read(index, kind, what, count)
        if values.dtype.kind != "u":
            raise InputError(f"{what}: accessor {index}: expected unsigned integers, got {values.dtype.name}")
        # Twice as wide as what they are read from.
        self.budget.hold(values.size, what)
        return values.astype(np.int64)

    def signed(self, index: int, what: str, count: int) -> NDArray[np.signedinteger[Any]]:
        """Return an accessor of signed integers as (count,), in their own type; the arguments of `floats`."""
        values = self._read(index, "SCALAR", what, count)[:, 0]
        if values.dtype.kind != "i":
            raise InputError(f"{what}: accessor {index}: expected signed integers, got {values.dtype.name}")
        return values

    def _check_version(self) -> None:
        version = self.root.part("asset", {}).text("version", "")
        if not version.startswith("2."):
            raise InputError(f"expected glTF version 2, got {shown(version)}")
        for extension in self.root.texts("extensionsRequired", ()):
            if extension in _UNREAD:
                raise InputError(f"is compressed by {extension}, which is not read; export it without compression")
            if extension not in _READ:
                self.note(f"the file requires the extension {shown(extension)}, which is left out")

    def _read(self, index: int, kind: str, what: str, count: int | None) -> NDArray[Any]:
        """Return the raw components (count, components) of an accessor in their own type."""
        accessor = self._accessor(index)
        stored, size = accessor.text("type", ""), accessor.integer("count")
        if stored != kind:
            raise InputError(f"{what}: accessor {index}: expected type {kind}, got {shown(stored)}")
        if count is not None and size != count:
            raise InputError(f"{what}: accessor {index}: expected {count} elements, got {size}")
        dtype, width = _component(accessor), _WIDTHS[kind]
        if "bufferView" in accessor:
            values = self._elements(accessor, size, dtype, width)
        else:
            self.budget.hold(size * width, accessor.where)
            values = np.zeros((size, width), dtype)
        if "sparse" in accessor:
            self._overwrite(values, accessor.part("sparse"))
        return values

    def _accessor(self, index: int) -> Fields:
        return self.root.part_of("accessors", index, "accessor")

    def _overwrite(self, values: NDArray[Any], sparse: Fields) -> None:
        """Put the sparse entries of an accessor at their indices."""
        count = sparse.integer("count", below=len(values) + 1)
        at, new = sparse.part("indices"), sparse.part("values")
        indices = self._elements(at, count, _component(at), 1)[:, 0]
        if indices.dtype.kind != "u":
            raise InputError(f"{at.where}: expected unsigned integers, got {indices.dtype.name}")
        steps = np.diff(indices.astype(np.int64), prepend=-1, append=len(values))
        if (steps <= 0).any():
            raise InputError(f"{at.where}: expected increasing numbers below {len(values)}")
        values[indices] = self._elements(new, count, values.dtype, values.shape[1])

    def _elements(self, fields: Fields, count: int, dtype: np.dtype[Any], width: int) -> NDArray[Any]:
        """Return `count` elements (count, width) of the buffer view that `fields` names, bounds checked."""
        view = fields.integer("bufferView", below=self._view_count)
        data = self._view(view)
        element = width * dtype.itemsize
        stride = self.root.part_of("bufferViews", view, "buffer view").integer("byteStride", default=element)
        if stride < element:
            raise InputError(f"buffer view {view}: byteStride: expected at least {element}, got {stride}")
        offset = fields.integer("byteOffset", default=0)
        needed = offset + stride * (count - 1) + element if count else 0
        if needed > len(data):
            raise InputError(f"{fields.where} needs {needed} bytes, its buffer view holds {len(data)}")
        self.budget.hold(count * width, fields.where)
        if not count:
            return np.zeros((0, width), dtype)
        values: NDArray[Any] = np.ndarray((count, width), dtype, data, offset, (stride, dtype.itemsize))
        return values.copy()

    def _view(self, index: int) -> memoryview:
        fields = self.root.part_of("bufferViews", index, "buffer view")
        extensions = fields.part("extensions", {})
        for name in meshopt.READ:
            if name in extensions:
                return self._decode(index, extensions.part(name), fields.integer("byteLength"))
        return self._bytes(fields)

    def _decode(self, index: int, extension: Fields, length: int) -> memoryview:
        """Return the bytes of a compressed view, decoded when first asked for."""
        if index not in self._decoded:
            self.budget.hold(length // 4, extension.where)
            self._decoded[index] = meshopt.decoded(extension, self._bytes(extension), length)
        return self._decoded[index]

    def _bytes(self, fields: Fields) -> memoryview:
        """Return the part of a buffer that some fields name."""
        data = self._buffer(fields.integer("buffer", below=self._buffer_count))
        start, length = fields.integer("byteOffset", default=0), fields.integer("byteLength")
        if start + length > len(data):
            raise InputError(f"{fields.where} ends at byte {start + length}, its buffer holds {len(data)}")
        return data[start : start + length]

    def _buffer(self, index: int) -> memoryview:
        """Return the bytes of a buffer, loaded when first asked for."""
        if index not in self._loaded:
            fields = self.root.part_of("buffers", index, "buffer")
            data, length = self._load(fields, index), fields.integer("byteLength")
            if len(data) < length:
                raise InputError(f"{fields.where} needs {length} bytes, found {len(data)}")
            self._loaded[index] = data[:length]
        return self._loaded[index]

    def _load(self, fields: Fields, index: int) -> memoryview:
        if "uri" not in fields:
            if index or self.binary is None:
                raise InputError(f"{fields.where}: has no uri, and the file no binary part for it")
            return self.binary
        return self._from_uri(fields)

    def _from_uri(self, fields: Fields) -> memoryview:
        uri = fields.text("uri")
        if uri.startswith("data:"):
            return _decode(uri, fields.where)
        file = _beside(self.path, uri, fields.where)
        if file not in self._loaded:
            try:
                self._loaded[file] = memoryview(files.read_bytes(file))
            except FileError as error:
                raise FileError(self.path, f"{fields.where}: its file {shown(uri)} {error.problem}") from error
            self.budget.grow(len(self._loaded[file]))
        return self._loaded[file]


def _component(fields: Fields) -> np.dtype[Any]:
    code = fields.integer("componentType")
    if code not in _COMPONENTS:
        raise InputError(
            f"{fields.where}: componentType: expected one of {', '.join(map(str, _COMPONENTS))}, got {code}"
        )
    return np.dtype(_COMPONENTS[code])


def _unpack(path: Path, data: bytes) -> tuple[bytes, memoryview | None]:
    """Return the JSON text and the binary part of a file; a .gltf is all text."""
    if data[:4] != b"glTF":
        if path.suffix.lower() == ".glb" and data and not _is_json(data):
            raise InputError("is not a glTF file: a .glb starts with 'glTF'; is it damaged, or another kind of file?")
        return files.unmarked(path, data), None
    if len(data) < 12:
        raise InputError(f"is cut short: a GLB header is 12 bytes, found {len(data)}")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise InputError(f"expected GLB version 2, got {version}")
    if length > len(data):
        raise InputError(f"is cut short: its header says {length} bytes, found {len(data)}")
    chunks: list[tuple[int, memoryview]] = []
    start = 12
    while start + 8 <= length and len(chunks) < 2:
        size, kind = struct.unpack_from("<II", data, start)
        if start + 8 + size > length:
            raise InputError(f"is cut short: chunk {len(chunks)} needs {size} bytes, found {length - start - 8}")
        chunks.append((kind, memoryview(data)[start + 8 : start + 8 + size]))
        start += 8 + size
    if not chunks or chunks[0][0] != _JSON_CHUNK:
        raise InputError("expected JSON as the first chunk of a GLB file")
    binary = chunks[1][1] if len(chunks) == 2 and chunks[1][0] == _BINARY_CHUNK else None
    return bytes(chunks[0][1]), binary


def _is_json(data: bytes) -> bool:
    """Whether a file begins as JSON does, in any encoding."""
    return data.lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").startswith((b"{", b"["))


def _decode(uri: str, where: str) -> memoryview:
    head, comma, body = uri.partition(",")
    if not comma or not head.endswith(";base64"):
        raise InputError(f"{where}: uri: expected base64 data")
    try:
        return memoryview(base64.b64decode(unquote_to_bytes(body), validate=True))
    except ValueError as error:
        raise InputError(f"{where}: uri: is not valid base64 ({error})") from error


def _beside(path: Path, uri: str, where: str) -> Path:
    """Return the file that a relative URI names; raise if it is outside the folder of `path`."""
    name = unquote(uri)
    inside = not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]", name) and not set(re.split(r"[/\\]", name)) & {"..", ""}
    if inside and "\0" not in name:
        # Resolved, because a link in the folder may lead out of it. A loop of links never ends: RuntimeError.
        with suppress(OSError, RuntimeError):
            file = (path.parent / name).resolve()
            if file.is_relative_to(path.parent.resolve()):
                return file
    raise FileError(path, f"{where}: uri: expected a file in the same folder, got {shown(uri)}")
