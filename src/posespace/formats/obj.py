"""Wavefront OBJ: read and write a mesh in the file's own vertex order.

Only `v` lines make vertices: texture seams never split them. What is written has the names of objects, groups and
materials, and texture coordinates, for other programs; reading leaves them out, as it does lines and points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.errors import FileError
from posespace.formats import files, text_numbers
from posespace.formats.contents import Contents, unique
from posespace.geometry.weld import Weld
from posespace.mesh import Mesh

_Ints = NDArray[np.int64]
_CONTINUED = re.compile(rb"^(?![ \t]*#)([^\n]*?)\\[ \t]*\n", re.MULTILINE)
"""A line that ends in a backslash; a comment may end in one by chance, as a Windows path does."""
_COMMENT = re.compile(rb"#[^\n]*")
_AFTER_SLASH = re.compile(rb"/\S*")
_COORDINATES = "TEXCOORD_0"
_MOST_LETTERS = 80


def read(path: Path) -> Contents:
    """Read a mesh; polygons keep their corners in `face_sizes`, and vertices without a face are kept."""
    text = files.read_lines(path) + b"\n"
    if re.search(rb"\\[ \t]*\n", text):
        text = _CONTINUED.sub(rb"\1 ", text) + b"\n"
    points, corners, sizes = _parsed(path, text)
    if not len(points):
        raise FileError(path, "holds no vertices (lines that start with 'v'); is it an OBJ file?")
    wrong = (corners < 0) | (corners >= len(points))
    if wrong.any():
        face = int(np.searchsorted(np.cumsum(sizes), int(wrong.argmax()), side="right"))
        words = b" ".join(_face_words(text, face))[:40].decode("ascii", errors="replace")
        raise FileError(path, f"face {face + 1} ({words}): names a vertex outside 1 to {len(points)}")
    polygon = sizes >= 3
    dropped = int((~polygon).sum())
    if dropped:
        corners, sizes = corners[np.repeat(polygon, sizes)], sizes[polygon]
    with files.naming(path):
        mesh = Mesh.from_polygons(points, corners, sizes)
    notes = (f"{dropped} faces of fewer than 3 corners left out",) if dropped else ()
    return Contents(path, "OBJ", meshes={path.stem: mesh}, notes=notes)


def write(path: Path, mesh: Mesh, points: ArrayLike | None = None, seams: Weld | None = None) -> None:
    """Write the mesh, with 9 significant digits.

    Parameters
    ----------
    path : the file
    mesh : the mesh
    points : (N, 3) another shape of it; None: its own
    seams : vertices to write as one, at their mean; texture coordinates stay apart. None: every vertex is written
    """
    shape = mesh.points if points is None else check.floats("points", points, mesh.points.shape)
    vertices = shape if seams is None else seams.gather(shape)
    numbers = np.arange(len(shape)) if seams is None else seams.groups.astype(np.int64)
    vertex_lines = ("v %.9g %.9g %.9g\n" * len(vertices)) % tuple(vertices.ravel().tolist())
    coordinates = None if mesh.look is None else mesh.look.attributes.get(_COORDINATES)
    coordinate_lines = ""
    if coordinates is not None:
        # In glTF v runs downwards, in OBJ upwards.
        upwards = coordinates.astype(np.float64) * (1, -1) + (0, 1)
        coordinate_lines = ("vt %.9g %.9g\n" * len(upwards)) % tuple(upwards.ravel().tolist())
    face_lines = "".join(
        name + _face_lines(corners, sizes, numbers, coordinates is not None) for name, corners, sizes in _pieces(mesh)
    )
    with files.atomic_write(path) as temporary:
        temporary.write_text(vertex_lines + coordinate_lines + face_lines, encoding="utf-8")


def _face_lines(corners: _Ints, sizes: _Ints, numbers: _Ints, textured: bool) -> str:
    """Lines of polygons: `corners` (sum of sizes,) of a mesh whose vertices have `numbers` (N,) in the file."""
    word = " %d/%d" if textured else " %d"
    patterns = {size: "f" + word * size + "\n" for size in np.unique(sizes).tolist()}
    written = np.stack([numbers[corners], corners], axis=1)[:, : 1 + textured] + 1
    return "".join(map(patterns.__getitem__, sizes.tolist())) % tuple(written.ravel().tolist())


def _pieces(mesh: Mesh) -> Iterator[tuple[str, _Ints, _Ints]]:
    """Yield the polygons of each object and material, corners and sizes, after the lines that name them."""
    corners, sizes = mesh.polygons()
    if mesh.look is None:
        yield "", corners, sizes
        return
    triangle, corner = (np.concatenate([[0], np.cumsum(counts)]) for counts in (sizes - 2, sizes))
    objects, shown = unique((_word(name) for name in mesh.look.meshes), "mesh"), -1
    materials = [_word(str(material.get("name", ""))) for material in mesh.look.materials]
    for piece in mesh.look.pieces():
        material = materials[piece.material] if piece.material >= 0 else ""
        lines = f"o {objects[piece.mesh]}\n" if piece.mesh != shown else ""
        lines += f"g {objects[piece.mesh]}{material and f'_{material}'}\n" + (material and f"usemtl {material}\n")
        shown = piece.mesh
        first, last = np.searchsorted(triangle, (piece.triangles.start, piece.triangles.stop))
        yield lines, corners[corner[first] : corner[last]], sizes[first:last]


def _word(name: str) -> str:
    """A name as one word: a file may call a mesh or a material anything, line ends included."""
    return re.sub(r"[^\w.+-]+", "_", name)[:_MOST_LETTERS]


@dataclass(frozen=True, eq=False)
class _Statements:
    """The lines of one kind in a block of the text.

    Parameters
    ----------
    text : the block
    begins : (L,) the byte after the keyword of each line
    ends : (L,) the byte after each line
    words : (L,) how many words follow the keyword
    fourth : (L,) the byte where the fourth of them starts, or the line ends
    """

    text: NDArray[np.uint8]
    begins: _Ints
    ends: _Ints
    words: _Ints
    fourth: _Ints

    def cut(self, ends: _Ints) -> bytes:
        """Return what the lines hold from their keyword to `ends` (L,), one after the other."""
        steps = np.zeros(len(self.text) + 1, np.int8)
        steps[self.begins] += 1
        steps[ends] -= 1
        chosen: NDArray[np.uint8] = self.text[np.cumsum(steps[:-1], dtype=np.int8).astype(bool)]
        return chosen.tobytes()


def _statements(block: bytes) -> tuple[_Statements, _Statements, _Ints]:
    """Return the vertex lines, the face lines, and how many vertices of the block come before each face (F,)."""
    text = np.frombuffer(_COMMENT.sub(b"", block) if b"#" in block else block, np.uint8)
    starts = np.flatnonzero(text_numbers.word_starts(text))
    ends = np.flatnonzero(text == ord("\n")) + 1
    line = np.searchsorted(ends, starts, side="right")
    # Where in `starts` each line that is not blank begins, and after it the next.
    first = np.append(np.flatnonzero(np.diff(line, prepend=-1)), len(starts))
    begins, words = starts[first[:-1]], np.diff(first) - 1
    ends = ends[line[first[:-1]]]
    has_more = words > 3
    fourth = ends.copy()
    fourth[has_more] = starts[first[:-1][has_more] + 4]
    alone = text_numbers.is_blank(text[begins + 1])
    vertex, face = (alone & (text[begins] == ord(keyword)) for keyword in "vf")
    vertices, faces = (
        _Statements(text, begins[kind] + 1, ends[kind], words[kind], fourth[kind]) for kind in (vertex, face)
    )
    return vertices, faces, np.cumsum(vertex)[face]


def _parsed(path: Path, text: bytes) -> tuple[NDArray[np.float64], _Ints, _Ints]:
    """Return points (N, 3), corners (sum of sizes,) counted from 0, and sizes (F,); corners may be out of range."""
    points, corners, sizes = [np.zeros((0, 3))], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    vertex_count = face_count = 0
    for block in text_numbers.blocks(text):
        vertices, faces, before = _statements(block)
        # Further numbers on a vertex line are weights or colours.
        numbers = None
        if (vertices.words >= 3).all():
            numbers = text_numbers.parse(vertices.cut(vertices.fourth), 3 * len(vertices.words), np.float64)
        if numbers is None:
            raise FileError(path, _bad_vertex(block, vertex_count))
        named = _AFTER_SLASH.sub(b"", faces.cut(faces.ends))
        indices = text_numbers.parse(named, int(faces.words.sum()), np.int64)
        if indices is None:
            raise FileError(
                path, f"face {_bad_face(block, face_count)}: expected whole numbers such as 3, 3/1, 3//2 or -1"
            )
        # A negative index counts back from the last vertex before the face.
        back = indices < 0
        indices = (
            np.where(back, indices + np.repeat(before + vertex_count, faces.words), indices - 1)
            if back.any()
            else indices - 1
        )
        points.append(numbers.reshape(-1, 3))
        corners.append(indices)
        sizes.append(faces.words)
        vertex_count += len(vertices.words)
        face_count += len(faces.words)
    return np.concatenate(points), np.concatenate(corners), np.concatenate(sizes)


def _rows(block: bytes, keyword: bytes) -> list[list[bytes]]:
    """Return the words of each line of that kind, for a message."""
    lines = (line.split() for line in _COMMENT.sub(b"", block).split(b"\n"))
    return [words[1:] for words in lines if words and words[0] == keyword]


def _face_words(text: bytes, number: int) -> list[bytes]:
    """Return the corners of a face as the file has them, for a message."""
    for block in text_numbers.blocks(text):
        count = len(_statements(block)[1].words)
        if number < count:
            return _rows(block, b"f")[number]
        number -= count
    return []


def _bad_vertex(block: bytes, before: int) -> str:
    for number, words in enumerate(_rows(block, b"v"), start=before + 1):
        if len(words) < 3 or not all(_is_number(word, float) for word in words[:3]):
            words_shown = b" ".join([b"v", *words])[:40].decode("ascii", errors="replace")
            return f"vertex {number}: expected three numbers, got {words_shown!r}"
    return "a vertex line cannot be read as three numbers"


def _bad_face(block: bytes, before: int) -> int:
    rows = enumerate(_rows(block, b"f"), start=before + 1)
    wrong = (k for k, words in rows if not all(_is_number(word.partition(b"/")[0], int) for word in words))
    return next(wrong, before + 1)


def _is_number(word: bytes, kind: Any) -> bool:
    try:
        kind(word)
    except ValueError:
        return False
    return True
