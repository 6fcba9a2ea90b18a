"""Wavefront OBJ: read and write a mesh in the file's own vertex order.

Only `v` lines make vertices: texture seams never split them. Materials, groups, lines and points are left out.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import FileError
from posespace.formats import files
from posespace.formats.contents import Contents
from posespace.mesh import Mesh

_VERTEX = frozenset((b"v ", b"v\t", b"v"))
_FACE = frozenset((b"f ", b"f\t", b"f"))
"""How a stripped line starts, in its first two bytes."""


def read(path: Path) -> Contents:
    """Read a mesh; polygons keep their corners in `face_sizes`, and vertices without a face are kept."""
    lines = _statements(files.read_bytes(path))
    vertices = [line for line in lines if line[:2] in _VERTEX]
    if not vertices:
        raise FileError(path, "holds no vertices (lines that start with 'v'); is it an OBJ file?")
    points = _points(path, vertices)
    corners, sizes, dropped = _faces(path, lines, len(points))
    with files.naming(path):
        mesh = Mesh.from_polygons(points, corners, sizes)
    notes = (f"{dropped} faces of fewer than 3 corners left out",) if dropped else ()
    return Contents(path, "OBJ", meshes={path.stem: mesh}, notes=notes)


def write(path: Path, mesh: Mesh, points: ArrayLike | None = None) -> None:
    """Write the mesh, with 9 significant digits; `points` (N, 3) is another shape of it."""
    shape = mesh.points if points is None else check.floats("points", points, mesh.points.shape)
    corners, sizes = mesh.polygons()
    vertex_lines = ("v %.9g %.9g %.9g\n" * len(shape)) % tuple(shape.ravel().tolist())
    patterns = {size: "f" + " %d" * size + "\n" for size in np.unique(sizes).tolist()}
    face_lines = "".join(map(patterns.__getitem__, sizes.tolist())) % tuple((corners + 1).tolist())
    with files.atomic_write(path) as temporary:
        temporary.write_text(vertex_lines + face_lines, encoding="ascii")


def _statements(data: bytes) -> list[bytes]:
    """Return the lines without blanks around them, those that end in a backslash joined with what follows."""
    lines = [line.strip() for line in data.splitlines()]
    if not any(line.endswith(b"\\") for line in lines):
        return lines
    joined: list[bytes] = []
    parts: list[bytes] = []
    for line in lines:
        # A comment may end in a backslash by chance, as a Windows path does; it continues nothing.
        if line.endswith(b"\\") and not line.startswith(b"#"):
            parts.append(line[:-1])
            continue
        joined.append(b" ".join([*parts, line]))
        parts = []
    joined.append(b" ".join(parts))
    return joined


def _points(path: Path, vertices: list[bytes]) -> Floats:
    """Return (N, 3) positions; further numbers on a line are weights or colours."""
    try:
        points: Floats = np.loadtxt(vertices, usecols=(1, 2, 3), comments="#", ndmin=2)
    except (ValueError, OverflowError):
        for index, line in enumerate(vertices, start=1):
            if not _is_vertex(line):
                text = line[:40].decode("ascii", errors="replace")
                raise FileError(path, f"vertex {index}: expected three numbers, got {text!r}") from None
        raise FileError(path, "a vertex line cannot be read as three numbers") from None
    return points


def _is_vertex(line: bytes) -> bool:
    try:
        return len([float(word) for word in line.split()[1:4]]) == 3
    except ValueError:
        return False


def _faces(path: Path, lines: list[bytes], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return corners (sum of sizes,), sizes (F,) and how many faces of fewer than 3 corners were dropped."""
    faces = [line for line in lines if line[:2] in _FACE]
    rows = [(line.partition(b"#")[0] if b"#" in line else line).split()[1:] for line in faces]
    sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    try:
        corners = np.array([int(corner.partition(b"/")[0]) for corner in chain.from_iterable(rows)], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise FileError(path, f"face {_first_bad(rows)}: expected whole numbers such as 3, 3/1, 3//2 or -1") from error
    # A negative index counts back from the last vertex before the face.
    before = np.repeat(_vertices_before(lines), sizes) if (corners < 0).any() else count
    corners = np.where(corners < 0, corners + before, corners - 1)
    wrong = (corners < 0) | (corners >= count)
    if wrong.any():
        face = int(np.searchsorted(np.cumsum(sizes), int(wrong.argmax()), side="right"))
        given = b" ".join(rows[face])[:40].decode("ascii", errors="replace")
        raise FileError(path, f"face {face + 1} ({given}): names a vertex outside 1 to {count}")
    polygon = sizes >= 3
    return corners[np.repeat(polygon, sizes)], sizes[polygon], int((~polygon).sum())


def _vertices_before(lines: list[bytes]) -> NDArray[np.int64]:
    """Return (F,) how many vertices come before each face."""
    kinds = np.array([1 if line[:2] in _VERTEX else 2 if line[:2] in _FACE else 0 for line in lines])
    before: NDArray[np.int64] = np.cumsum(kinds == 1)[kinds == 2]
    return before


def _first_bad(rows: list[list[bytes]]) -> int:
    for number, row in enumerate(rows, start=1):
        for corner in row:
            try:
                np.int64(int(corner.partition(b"/")[0]))
            except (ValueError, OverflowError):
                return number
    return len(rows)
