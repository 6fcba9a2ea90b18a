"""PLY: all three forms give the same mesh, unknown parts are stepped over, and damaged files get one line."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import assert_read_or_one_line, assert_refused
from hypothesis import given, settings
from hypothesis import strategies as st

from posespace.formats import ply
from posespace.formats.contents import Contents
from posespace.mesh import Mesh

FORMS = {"ascii": "<", "binary_little_endian": "<", "binary_big_endian": ">"}
CODES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d"}
XYZ = [("float", "x"), ("float", "y"), ("float", "z")]
CORNERS = ("list uchar int", "vertex_indices")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("ply")


def encode(form: str, elements: list[tuple[str, list[tuple[str, str]], list[tuple]]]) -> bytes:
    """Return a PLY file; an element is its name, its (type, name) properties and its rows, lists as tuples."""
    header = ["ply", f"format {form} 1.0", "comment a test", "obj_info of this library"]
    body: list[bytes] = []
    for name, properties, rows in elements:
        header.append(f"element {name} {len(rows)}")
        header += [f"property {kind} {label}" for kind, label in properties]
        for row in rows:
            words: list[bytes] = []
            for (kind, _), value in zip(properties, row, strict=True):
                numbers = (len(value), *value) if kind.startswith("list") else (value,)
                codes = [CODES[part] for part in kind.removeprefix("list ").split()]
                codes = [codes[0], *codes[1:] * (len(numbers) - 1)]
                if form == "ascii":
                    words += [repr(number).encode() for number in numbers]
                else:
                    words += [struct.pack(FORMS[form] + c, n) for c, n in zip(codes, numbers, strict=True)]
            body.append(b" ".join(words) + b"\n" if form == "ascii" else b"".join(words))
    return "\n".join([*header, "end_header\n"]).encode() + b"".join(body)


def parse(folder: Path, data: bytes) -> Contents:
    path = folder / "shape.ply"
    path.write_bytes(data)
    return ply.read(path)


POINTS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.5), (9.0, 9.0, 9.0)]
FACES = [((0, 1, 2, 3),), ((0, 2, 4),)]


@pytest.mark.parametrize("form", FORMS)
def test_the_three_forms_give_the_same_mesh(tmp_path, form):
    mesh = parse(tmp_path, encode(form, [("vertex", XYZ, POINTS), ("face", [CORNERS], FACES)])).meshes["shape"]
    assert mesh.points.dtype == np.float32
    assert mesh.points.tolist() == [list(point) for point in POINTS]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 2, 4]]
    assert mesh.face_sizes.tolist() == [4, 3]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ragged", [False, True])
def test_any_order_of_properties_and_unknown_elements_are_understood(tmp_path, form, ragged):
    vertex = [("uchar", "red"), ("double", "z"), ("short", "x"), ("list ushort char", "tags"), ("float", "y")]
    sizes = (2, 0, 3, 1) if ragged else (2, 2, 2, 2)
    rows = [(7, 0.25 * k, k, tuple(range(-1, sizes[k] - 1)), 0.5) for k in range(4)]
    strange = (
        "camera",
        [("int", "x"), ("list uint double", "lens")],
        [(1, (0.5,)), (2, (0.5,) * (3 if ragged else 1))],
    )
    face = [("float", "quality"), ("list int uint", "vertex_index"), ("list uchar float", "texcoord"), ("char", "flag")]
    faces = [(0.5, (0, 1, 2), (0.0,) * 6, -1), (0.5, (0, 1, 2, 3) if ragged else (1, 2, 3), (0.0,) * 6, 1)]
    data = encode(form, [strange, ("vertex", vertex, rows), ("empty", [], []), ("face", face, faces), strange])
    mesh = parse(tmp_path, data).meshes["shape"]
    assert mesh.points.dtype == np.float64
    assert mesh.points.tolist() == [[float(k), 0.5, 0.25 * k] for k in range(4)]
    assert mesh.triangles.tolist() == ([[0, 1, 2], [0, 1, 2], [0, 2, 3]] if ragged else [[0, 1, 2], [1, 2, 3]])


@pytest.mark.parametrize("form", FORMS)
def test_triangle_strips_become_triangles(tmp_path, form):
    rows = [((0, 1, 2, 3, -1, 2, 3, 3, 4),), ((1, 2),), ((4, 3, 2),)]
    data = encode(form, [("vertex", XYZ, POINTS), ("tristrips", [CORNERS], rows)])
    mesh = parse(tmp_path, data).meshes["shape"]
    assert mesh.triangles.tolist() == [[0, 1, 2], [2, 1, 3], [4, 3, 2]]


def test_points_alone_and_faces_too_small_are_kept_and_told(tmp_path):
    assert parse(tmp_path, encode("ascii", [("vertex", XYZ, POINTS)])).meshes["shape"].triangles.shape == (0, 3)
    faces = [((0, 1),), ((0, 1, 2),), ((),)]
    contents = parse(tmp_path, encode("binary_little_endian", [("vertex", XYZ, POINTS), ("face", [CORNERS], faces)]))
    assert contents.meshes["shape"].triangles.tolist() == [[0, 1, 2]]
    assert contents.notes == ("2 faces of fewer than 3 corners left out",)


@pytest.mark.parametrize("newline", [b"\r\n", b"\r", b"\n"])
def test_line_ends_of_the_header_may_be_any(tmp_path, newline):
    data = encode("binary_little_endian", [("vertex", XYZ, [(struct.unpack("<f", b"\n\r\n\r")[0], 0.0, 0.0)])])
    head, _, body = data.partition(b"end_header\n")
    mesh = parse(tmp_path, head.replace(b"\n", newline) + b"end_header" + newline + body).meshes["shape"]
    assert mesh.points[0].tobytes()[:4] == b"\n\r\n\r"


def test_bytes_behind_a_binary_file_are_told(tmp_path):
    data = encode("binary_big_endian", [("vertex", XYZ, POINTS), ("face", [CORNERS], FACES)])
    assert parse(tmp_path, data + b"\0\0\0").notes == ("3 bytes after the last element left out",)


@st.composite
def meshes(draw):
    count = draw(st.integers(1, 12))
    wide = draw(st.booleans())
    number = st.floats(-1e10, 1e10) if wide else st.floats(-(2.0**33), 2.0**33, width=32)
    points = draw(st.lists(st.tuples(number, number, number), min_size=count, max_size=count))
    sizes = draw(st.lists(st.sampled_from([3, 3, 4, 5, 300]), max_size=6))
    corners = draw(st.lists(st.integers(0, count - 1), min_size=7, max_size=7)) * 300
    kind = np.float64 if wide else np.float32
    return Mesh.from_polygons(np.array(points, dtype=kind), np.array(corners[: sum(sizes)], dtype=np.int64), sizes)


@given(mesh=meshes())
def test_writing_and_reading_gives_every_bit_back(folder, mesh):
    path = folder / "m.ply"
    ply.write(path, mesh)
    back = ply.read(path).meshes["m"]
    assert back.points.dtype == mesh.points.dtype
    assert back.points.tobytes() == mesh.points.tobytes()
    assert np.array_equal(back.triangles, mesh.triangles)
    assert (back.face_sizes is None) == (mesh.face_sizes is None)
    assert mesh.face_sizes is None or np.array_equal(back.face_sizes, mesh.face_sizes)


@pytest.mark.parametrize("sizes", [np.full(100_000, 3), np.arange(100_000) % 3 + 3])
def test_large_files_are_read_whole(tmp_path, sizes):
    random = np.random.default_rng(0)
    mesh = Mesh.from_polygons(random.normal(size=(50_000, 3)), random.integers(0, 50_000, sizes.sum()), sizes)
    ply.write(tmp_path / "m.ply", mesh)
    back = ply.read(tmp_path / "m.ply").meshes["m"]
    assert np.array_equal(back.triangles, mesh.triangles)


HEAD = b"ply\nformat binary_little_endian 1.0\n"
VERTEX = b"element vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
ASCII = b"ply\nformat ascii 1.0\n" + VERTEX
FACE = b"element face 1\nproperty list uchar int vertex_indices\n"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not a PLY file"),
        (b"\x89PNG\r\n\x1a\n" * 100, "not a PLY file"),
        (b"plywood\n", "not a PLY file"),
        (b"ply\n", "ends within its header"),
        (b"ply\n" + b"\n" * 20_000, "more than 10000 lines"),
        (b"ply\nend_header\n", "no format"),
        (b"ply\nformat binary_middle_endian 1.0\nend_header\n", "not understood"),
        (HEAD + b"\xff\xfe garbage\nend_header\n", "not understood"),
        (HEAD + b"property float x\nend_header\n", "not understood"),
        (HEAD + b"element vertex -1\nend_header\n", "not understood"),
        (HEAD + b"element vertex 1e3\nend_header\n", "not understood"),
        (HEAD + b"element vertex 1\nproperty quad x\nend_header\n", "property that is not understood"),
        (HEAD + b"element vertex 1\nproperty list float int x\nend_header\n", "property that is not understood"),
        (HEAD + b"end_header\n", "no vertices"),
        (HEAD + VERTEX.replace(b" 1\n", b" 0\n") + b"end_header\n", "no vertices"),
        (HEAD + b"element vertex 1\nproperty float x\nproperty float y\nend_header\n", "no property 'z'"),
        (HEAD + VERTEX.replace(b" 1\n", b" 2147483648\n") + b"end_header\n" + bytes(900), "cut short"),
        (HEAD + VERTEX.replace(b" 1\n", b" 999999999999999999\n") + b"end_header\n", "cut short"),
        (HEAD + VERTEX + FACE.replace(b" 1\n", b" 2147483648\n") + b"end_header\n" + bytes(900), "cut short"),
        (HEAD + VERTEX + b"end_header\n" + bytes(11), "cut short"),
        (HEAD + VERTEX + FACE + b"end_header\n" + bytes(12) + b"\xff" + bytes(8), "list of 255 values"),
        (HEAD + VERTEX + FACE.replace(b"uchar", b"int") + b"end_header\n" + bytes(12) + b"\xff" * 8, "list of -1"),
        (HEAD + VERTEX + FACE.replace(b"uchar", b"uint") + b"end_header\n" + bytes(12) + b"\xff" * 8, "list of 4294"),
        (HEAD + VERTEX + FACE + b"end_header\n" + bytes(12) + b"\3" + b"\1" * 12, "expected indices"),
        (HEAD + VERTEX + FACE + b"end_header\n" + bytes(12) + b"\3" + b"\xff" * 12, "expected indices"),
        (HEAD + VERTEX + b"end_header\n" + struct.pack("<3f", 0, np.nan, 0), "finite"),
        (HEAD + VERTEX + b"end_header\n" + struct.pack("<3f", 0, 0, -np.inf), "finite"),
        (ASCII + b"end_header\n0 nan 0\n", "finite"),
        (ASCII + b"end_header\n0 1e39 0\n", "finite"),
        (ASCII + b"end_header\n0 0\n", "cut short"),
        (ASCII + b"end_header\n0 0 zero\n", "expected nothing but numbers"),
        (ASCII + b"end_header\n0 0 0 0\n", "1 more numbers"),
        (ASCII + b"end_header\n" + b"\0\1\2\xff" * 100, "expected nothing but numbers"),
        (ASCII + FACE + b"end_header\n0 0 0\n3 0 0 0.5\n", "whole numbers"),
        (ASCII + FACE + b"end_header\n0 0 0\n3 0 0 inf\n", "whole numbers"),
        (ASCII + FACE + b"end_header\n0 0 0\n2.5 0 0 0\n", "list of 2.5 values"),
        (ASCII + FACE + b"end_header\n0 0 0\nnan 0 0 0\n", "list of nan values"),
        (ASCII + FACE + b"end_header\n0 0 0\n1e300 0 0 0\n", "list of 1e.300 values"),
        (ASCII + FACE.replace(b" 1\n", b" 2\n") + b"end_header\n0 0 0\n3 0 0 0\n4 0 0 0\n", "list of 4.0 values"),
        (ASCII + FACE.replace(b" 1\n", b" 3\n") + b"end_header\n0 0 0\n3 0 0 0\n2 0 0\n", "cut short"),
    ],
)
def test_a_damaged_file_gets_one_line(tmp_path, data, problem):
    assert_refused(lambda: parse(tmp_path, data), tmp_path / "shape.ply", problem)


@settings(max_examples=400)
@given(
    form=st.sampled_from(list(FORMS)),
    junk=st.binary(max_size=12),
    where=st.integers(0, 420),
    drop=st.integers(0, 30),
)
def test_no_damage_gives_anything_but_one_line(folder, form, junk, where, drop):
    extra = ("camera", [("list uint double", "lens"), ("int", "k")], [((0.5, 1.5), 1), ((0.5,), 2)])
    good = encode(form, [extra, ("vertex", XYZ, POINTS), ("face", [CORNERS], FACES)])
    assert_read_or_one_line(lambda: parse(folder, good[:where] + junk + good[where + drop :]))
