"""PLY: read a mesh from the ascii and both binary forms, and write the little-endian one.

Points and faces (or triangle strips) are read; whatever else a file holds is skipped.
"""

from __future__ import annotations

import re
import struct
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import FileError, quoted
from posespace.formats import files, text_numbers
from posespace.formats.contents import Contents
from posespace.mesh import Mesh

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_ORDERS = {"ascii": "<", "binary_little_endian": "<", "binary_big_endian": ">"}
_CORNERS = ("vertex_indices", "vertex_index")
_WANTED = frozenset(("x", "y", "z", *_CORNERS))
_MOST_HEADER_LINES = 10_000


@dataclass(frozen=True)
class _Property:
    """One value per row, or a list of values preceded by its length: `length` is the type of that length."""

    name: str
    type: np.dtype[Any]
    length: np.dtype[Any] | None = None

    @property
    def least(self) -> int:
        """The bytes it takes in every row."""
        return (self.type if self.length is None else self.length).itemsize

    def as_double(self) -> _Property:
        """The same property with doubles for all its numbers."""
        double = np.dtype("<f8")
        return _Property(self.name, double, None if self.length is None else double)


@dataclass
class _Element:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list)


@dataclass(frozen=True)
class _Lists:
    """The lists of all rows one after the other: `values` (sum of sizes,) and `sizes` (rows,)."""

    values: NDArray[Any]
    sizes: NDArray[np.int64]


@dataclass
class _Columns:
    """The wanted columns of an element: scalars (rows,) and lists by the name of their property."""

    scalars: dict[str, NDArray[Any]] = field(default_factory=dict)
    lists: dict[str, _Lists] = field(default_factory=dict)


def read(path: Path) -> Contents:
    """Read a mesh; polygons keep their corners in `face_sizes`. Points are float32 where the file's are."""
    data = files.unmarked(path, files.read_bytes(path))
    form, elements, start = _header(path, data)
    kind = _point_type(path, elements)
    body: bytes | memoryview = memoryview(data)[start:]
    if form == "ascii":
        body = _doubles(path, data[start:])
        for element in elements:
            element.properties = [entry.as_double() for entry in element.properties]
    tables: dict[str, _Columns] = {}
    at = 0
    for element in elements:
        columns, at = _table(path, body, at, element)
        tables.setdefault(element.name, columns)
    extra = len(body) - at
    if extra and form == "ascii":
        raise FileError(path, f"holds {extra // 8} more numbers than its header says")
    with np.errstate(over="ignore"):
        points: Floats = np.stack([tables["vertex"].scalars[axis] for axis in "xyz"], axis=1).astype(kind)
    mesh, notes = _mesh(path, points, tables)
    if extra:
        notes.append(f"{extra} bytes after the last element left out")
    return Contents(path, "PLY", meshes={path.stem: mesh}, notes=tuple(notes))


def write(path: Path, mesh: Mesh) -> None:
    """Write the mesh as binary little-endian PLY, its points in their own precision."""
    corners, sizes = mesh.polygons()
    small = bool(sizes.max(initial=0) < 256)
    header = [
        "ply",
        "format binary_little_endian 1.0",
        f"element vertex {len(mesh.points)}",
        *(f"property {'float' if mesh.points.dtype == np.float32 else 'double'} {axis}" for axis in "xyz"),
        f"element face {len(sizes)}",
        f"property list {'uchar' if small else 'int'} int vertex_indices",
        "end_header\n",
    ]
    # Each polygon's size goes in front of its corners, as a byte where it fits.
    starts, items = np.cumsum(sizes) - sizes, corners.astype("<i4")
    faces = np.insert(items.view(np.uint8), 4 * starts, sizes) if small else np.insert(items, starts, sizes)
    points = mesh.points.astype(mesh.points.dtype.newbyteorder("<"), copy=False)
    with files.atomic_write(path) as temporary:
        temporary.write_bytes("\n".join(header).encode("ascii") + points.tobytes() + faces.tobytes())


def _header(path: Path, data: bytes) -> tuple[str, list[_Element], int]:
    """Return the form, the elements and where the body starts."""
    first = re.match(rb"ply[ \t]*(\r\n|\n|\r)", data)
    if not first:
        raise FileError(path, "is not a PLY file: it does not start with a line 'ply'")
    newline, at = first[1], first.end()
    form, elements = "", list[_Element]()
    for _ in range(_MOST_HEADER_LINES):
        end = data.find(newline, at)
        if end < 0:
            raise FileError(path, "ends within its header")
        line = data[at:end][:1000].decode("ascii", errors="replace")
        at = end + len(newline)
        match line.split():
            case ["end_header"]:
                if not form:
                    raise FileError(path, "its header names no format")
                return form, elements, at
            case ["format", word, *_] if word in _ORDERS:
                form = word
            case ["element", name, count] if count.isdecimal() and len(count) < 19:
                elements.append(_Element(name, int(count)))
            case ["property", *words] if elements and form:
                elements[-1].properties.append(_property(path, words, _ORDERS[form]))
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                raise FileError(path, f"its header has a line that is not understood: {quoted(line)}")
    raise FileError(path, f"its header has more than {_MOST_HEADER_LINES} lines")


def _property(path: Path, words: list[str], order: str) -> _Property:
    match words:
        case [kind, name] if kind in _TYPES:
            return _Property(name, np.dtype(order + _TYPES[kind]))
        case ["list", length, kind, name] if kind in _TYPES and _TYPES.get(length, "f")[0] != "f":
            return _Property(name, np.dtype(order + _TYPES[kind]), np.dtype(order + _TYPES[length]))
    raise FileError(path, f"its header has a property that is not understood: {quoted(' '.join(words))}")


def _point_type(path: Path, elements: list[_Element]) -> type[np.float32] | type[np.float64]:
    """Return the precision of the vertices, having checked that they have positions."""
    vertex = next((element for element in elements if element.name == "vertex"), None)
    if vertex is None or not vertex.count:
        raise FileError(path, "holds no vertices")
    kinds = {entry.name: entry.type for entry in reversed(vertex.properties) if entry.length is None}
    for axis in "xyz":
        if axis not in kinds:
            raise FileError(path, f"its vertices have no property {axis!r}")
    return np.float32 if all(kinds[axis].str[1:] == "f4" for axis in "xyz") else np.float64


def _doubles(path: Path, body: bytes) -> bytes:
    """Return an ascii body as little-endian doubles: with that it is a binary body whose every type is double."""
    values = text_numbers.parse_all(body.replace(b"\r", b"\n"))
    if values is None:
        bad = text_numbers.first_bad(body)
        raise FileError(path, f"expected nothing but numbers after its header, got {bad!r}")
    return values.astype("<f8", copy=False).tobytes()


def _table(path: Path, body: bytes | memoryview, at: int, element: _Element) -> tuple[_Columns, int]:
    """Return the wanted columns of an element whose rows start at byte `at`, and where they end."""
    least = sum(entry.least for entry in element.properties)
    if element.count * least > len(body) - at:
        raise FileError(path, f"is cut short: its header promises {element.count} of {element.name[:40]!r}")
    if not element.properties or not element.count:
        return _Columns(), at
    rows = _uniform_rows(body, at, element)
    if rows is None:
        return _ragged(path, body, at, element)
    columns = _Columns()
    for index, entry in enumerate(element.properties):
        if entry.name not in _WANTED:
            continue
        values = rows[f"values{index}"]
        if entry.length is None:
            columns.scalars.setdefault(entry.name, values)
        else:
            sizes = np.full(len(rows), values.shape[1])
            columns.lists.setdefault(entry.name, _Lists(values.reshape(-1), sizes))
    return columns, at + rows.nbytes


def _uniform_rows(body: bytes | memoryview, at: int, element: _Element) -> NDArray[Any] | None:
    """Return the rows as a structured view if every list is as long as in the first row, else None."""
    fields: list[Any] = []
    end = at
    for index, entry in enumerate(element.properties):
        if entry.length is None:
            fields.append((f"values{index}", entry.type))
            end += entry.least
            continue
        if end + entry.least > len(body):
            return None
        size = float(np.frombuffer(body, entry.length, 1, end)[0])
        end += entry.least
        if not 0 <= size * entry.type.itemsize <= len(body) - end or size != int(size):
            return None
        fields += [(f"length{index}", entry.length), (f"values{index}", entry.type, (int(size),))]
        end += int(size) * entry.type.itemsize
    kind = np.dtype(fields)
    if element.count * kind.itemsize > len(body) - at:
        return None
    rows = np.frombuffer(body, kind, element.count, at)
    lengths = [rows[name] for name in kind.names or () if name.startswith("length")]
    return rows if all((entry == entry[:1]).all() for entry in lengths) else None


def _ragged(path: Path, body: bytes | memoryview, at: int, element: _Element) -> tuple[_Columns, int]:
    """As `_table`, where lists differ in length: walk the rows, then gather each wanted column at once."""
    spans, tail = _spans(element)
    starts, lengths = array("q"), array("d")
    end = at
    try:
        for _ in range(element.count):
            for skip, length, width in spans:
                (size,) = length.unpack_from(body, end + skip)
                end += skip + length.size
                if not 0 <= size * width <= len(body) - end or size != int(size):
                    raise FileError(path, f"has a list of {size} values in {element.name[:40]!r}, more than it holds")
                starts.append(end)
                lengths.append(size)
                end += int(size) * width
            end += tail
    except struct.error:
        end = len(body) + 1
    if end > len(body):
        raise FileError(path, f"is cut short within {element.name[:40]!r}")
    begin = np.array(starts, dtype=np.int64).reshape(element.count, len(spans))
    sizes = np.array(lengths, dtype=np.int64).reshape(element.count, len(spans))
    return _gathered(np.frombuffer(body, np.uint8), element, begin, sizes), end


def _spans(element: _Element) -> tuple[list[tuple[int, struct.Struct, int]], int]:
    """Return, for each list, the bytes before its length, that length's reader and an item's bytes; and the tail."""
    spans, skip = list[tuple[int, struct.Struct, int]](), 0
    for entry in element.properties:
        if entry.length is None:
            skip += entry.type.itemsize
        else:
            order = entry.length.str[0].replace("|", "<")
            spans.append((skip, struct.Struct(order + entry.length.char), entry.type.itemsize))
            skip = 0
    return spans, skip


def _gathered(body: NDArray[np.uint8], element: _Element, starts: Any, sizes: Any) -> _Columns:
    """Return the wanted columns, given where each list of each row starts and its size, both (rows, lists)."""
    skip, length, _ = _spans(element)[0][0]
    columns = _Columns()
    where = starts[:, 0] - skip - length.size
    seen = 0
    for entry in element.properties:
        if entry.length is None:
            if entry.name in _WANTED:
                columns.scalars.setdefault(entry.name, _pick(body, where, entry.type))
            where = where + entry.type.itemsize
            continue
        if entry.name in _WANTED:
            items = _items(starts[:, seen], sizes[:, seen], entry.type.itemsize)
            columns.lists.setdefault(entry.name, _Lists(_pick(body, items, entry.type), sizes[:, seen]))
        where = starts[:, seen] + sizes[:, seen] * entry.type.itemsize
        seen += 1
    return columns


def _pick(body: NDArray[np.uint8], where: NDArray[np.int64], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return the values (n,) of one type that start at bytes `where` (n,)."""
    values: NDArray[Any] = body[where[:, None] + np.arange(kind.itemsize)].reshape(-1).view(kind)
    return values


def _items(starts: NDArray[np.int64], sizes: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return (sum of sizes,) the byte of each item of lists that begin at `starts`, `width` bytes an item."""
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    where: NDArray[np.int64] = np.repeat(starts, sizes) + width * within
    return where


def _mesh(path: Path, points: Floats, tables: dict[str, _Columns]) -> tuple[Mesh, list[str]]:
    """Return the mesh of the faces, or else of the strips, or else of the points alone; and notes about it."""
    for element in ("face", "tristrips"):
        lists = tables.get(element, _Columns()).lists
        faces = next((lists[name] for name in _CORNERS if name in lists), None)
        if faces is not None:
            break
    corners, sizes = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if faces is not None:
        corners, sizes = _whole(path, faces.values), faces.sizes
    with files.naming(path):
        if element == "tristrips":
            return Mesh(points, _strip_triangles(corners, sizes)), []
        polygon = sizes >= 3
        mesh = Mesh.from_polygons(points, corners[np.repeat(polygon, sizes)], sizes[polygon])
    dropped = int((~polygon).sum())
    return mesh, [f"{dropped} faces of fewer than 3 corners left out"] if dropped else []


def _whole(path: Path, values: NDArray[Any]) -> NDArray[np.int64]:
    """Return vertex indices as whole numbers; an ascii file may hold anything in their place."""
    if values.dtype.kind == "f" and not ((np.rint(values) == values) & (np.abs(values) < 2**31)).all():
        raise FileError(path, "expected whole numbers as the corners of its faces")
    return values.astype(np.int64)


def _strip_triangles(corners: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """Return (T, 3) triangles of strips; a negative index starts a new strip, every second triangle is flipped."""
    restart = corners < 0
    strip = (np.repeat(np.arange(len(sizes)), sizes) + np.cumsum(restart))[~restart]
    corners = corners[~restart]
    odd = (np.arange(len(strip)) - np.searchsorted(strip, strip)) % 2 == 1
    triangles = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    flipped = odd[:-2]
    triangles[flipped] = triangles[flipped][:, [1, 0, 2]]
    a, b, c = triangles.T
    keep: NDArray[Any] = triangles[(strip[:-2] == strip[2:]) & (a != b) & (b != c) & (c != a)]
    return keep
