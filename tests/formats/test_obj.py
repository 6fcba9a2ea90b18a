"""Wavefront OBJ: the file's vertex order and polygons are kept, and damaged files get one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posespace.errors import FileError, InputError
from posespace.formats import obj
from posespace.formats.load import load_mesh, load_rig
from posespace.mesh import Mesh
from posespace.rig import Rig


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("obj")


def parse(folder: Path, text: str | bytes, name: str = "shape.obj") -> Mesh:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return obj.read(path).meshes[path.stem]


QUAD = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


@pytest.mark.parametrize(
    ("file", "vertices", "triangles", "faces"),
    [
        ("face-ict-facekit/generic_neutral_mesh.obj", 26719, 52220, 26384),
        ("face-ict-facekit/jawOpen.obj", 26719, 52220, 26384),
        ("makehuman-cc0/base.obj", 19158, 36972, 18486),
        ("meshposes-wolf/wolf_rest.obj", 5075, 10018, 10018),
        ("hand-target-odedstein/hand_lowres.obj", 810, 1602, 1602),
        ("hand-target-odedstein/hand_closed.obj", 7993, 15982, 15982),
    ],
)
def test_real_files_have_their_known_counts(data, file, vertices, triangles, faces):
    contents = obj.read(data / file)
    mesh = contents.meshes[Path(file).stem]
    assert (len(mesh.points), len(mesh.triangles), mesh.face_count) == (vertices, triangles, faces)
    assert contents.format == "OBJ"
    assert contents.notes == ()


def test_makehuman_is_all_quads_and_the_closed_hand_is_watertight(data):
    human = obj.read(data / "makehuman-cc0/base.obj").meshes["base"]
    assert human.face_sizes is not None
    assert set(human.face_sizes.tolist()) == {4}
    assert obj.read(data / "hand-target-odedstein/hand_closed.obj").meshes["hand_closed"].is_watertight
    assert not obj.read(data / "hand-target-odedstein/hand_lowres.obj").meshes["hand_lowres"].is_watertight


def test_ict_points_are_those_of_the_reference_arrays(data):
    mesh = obj.read(data / "face-ict-facekit/generic_neutral_mesh.obj").meshes["generic_neutral_mesh"]
    with np.load(data / "face-ict-facekit/ict_face_head.npz") as known:
        neutral = next(known[key] for key in known.files if known[key].shape == (11248, 3))
    assert np.abs(mesh.points[: len(neutral)] - neutral).max() < 1e-5


@pytest.mark.parametrize("corner", ["{}", "{}/7", "{}//9", "{}/7/9"])
def test_corner_forms_name_the_same_vertices(tmp_path, corner):
    mesh = parse(tmp_path, QUAD + "f " + " ".join(corner.format(k) for k in (1, 2, 3, 4)))
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.face_sizes.tolist() == [4]


def test_negative_indices_count_back_from_the_face(tmp_path):
    mesh = parse(tmp_path, QUAD + "f -4 -3 -2\nv 5 5 5\nf -1/1 -2 -3//2\n")
    assert mesh.triangles.tolist() == [[0, 1, 2], [4, 3, 2]]


def test_seams_never_split_vertices(tmp_path):
    mesh = parse(tmp_path, QUAD + "vt 0 0\nvt 1 1\nvn 0 0 1\nf 1/1 2/1 3/1\nf 1/2 3/2 4/2\n")
    assert len(mesh.points) == 4


def test_what_other_programs_write_is_read(tmp_path):
    text = (
        "# made by C:\\models\\\r\nmtllib a.mtl\r\no thing\r\n\r\n"
        "v 0 0 0 1.0 0.5 0.2 0.1\r\n  v\t1e0 0.0 -0\r\nv 1 \\\r\n1 0 # a corner\r\nv 0 1 0 1.0\r\nv 9 9 9\r\n"
        "g body\r\ns off\r\nusemtl skin\r\nl 1 2\r\np 1\r\nf 1 2\r\nf 1 2 \\\r\n 3 4 # a face\r\n"
    )
    mesh = parse(tmp_path, text)
    assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [9, 9, 9]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert obj.read(tmp_path / "shape.obj").notes == ("1 faces of fewer than 3 corners left out",)


def test_points_without_faces_are_a_mesh(tmp_path):
    mesh = parse(tmp_path, QUAD)
    assert mesh.triangles.shape == (0, 3)


def test_old_line_ends_and_a_last_line_that_continues_are_read(tmp_path):
    assert len(parse(tmp_path, QUAD.replace("\n", "\r") + "f 1 2 3 \\").triangles) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "no vertices"),
        (b"\x00\x01\xff\xfe" * 500, "zero bytes"),
        ("hello world\n", "no vertices"),
        ("v 0 0\n", "vertex 1: expected three numbers"),
        ("v\nv 0 0 0\n", "vertex 1: expected three numbers"),
        ("v 0 0 0\nv 0 one 0\n", "vertex 2: expected three numbers"),
        ("v 0 0 0\nv 0 nan 0\n", "finite"),
        ("v 0 0 0\nv 0 -inf 0\n", "finite"),
        ("v 0 0 0\nv 0 1e999 0\n", "finite"),
        (QUAD + "f 1 2 5\n", r"face 1 \(1 2 5\): names a vertex outside 1 to 4"),
        (QUAD + "f 1 2 3\nf 0 1 2\n", "face 2"),
        (QUAD + "f -5 1 2\n", "face 1"),
        (QUAD + "f 1 2 three\n", "face 1: expected whole numbers"),
        (QUAD + "f 1 2 3\nf 1.5 2 3\n", "face 2: expected whole numbers"),
        (QUAD + "f 1 2 /3\n", "face 1: expected whole numbers"),
        (QUAD + "f 1 2 99999999999999999999999\n", "face 1"),
        (QUAD + "f 1 2 -9223372036854775808\n", "face 1"),
        (QUAD + "f 1 2 " + "9" * 5000, "face 1"),
    ],
)
def test_a_damaged_file_gets_one_line(tmp_path, text, problem):
    with pytest.raises(FileError, match=problem) as caught:
        parse(tmp_path, text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "shape.obj"))


def test_a_large_mesh_is_read_to_its_last_face(tmp_path):
    rng = np.random.default_rng(0)
    mesh = Mesh(rng.normal(size=(30_000, 3)), rng.integers(0, 30_000, (60_000, 3)))
    obj.write(tmp_path / "large.obj", mesh)
    found = obj.read(tmp_path / "large.obj").meshes["large"]
    np.testing.assert_allclose(found.points, mesh.points, rtol=1e-8)
    assert np.array_equal(found.triangles, mesh.triangles)


def test_faults_are_counted_over_the_whole_of_a_large_file(tmp_path):
    vertices, faces = "v 0 0 0\n" * 200_000, "f 1/1 2/2 3/3\n" * 200_000
    for text, problem in (
        (vertices + "v 0 x 0\n" + faces, "vertex 200001"),
        (vertices + faces + "f 1 2 y\n", "face 200001"),
        (vertices + faces + "f 1 2 200001\n", r"face 200001 \(1 2 200001\)"),
        (vertices + faces + "f -1 -2 -200001\n", "face 200001"),
    ):
        with pytest.raises(FileError, match=problem):
            parse(tmp_path, text)


def test_blank_lines_and_comments_in_any_number_are_nothing(tmp_path):
    assert len(parse(tmp_path, QUAD + "\n" * 2_000_000 + "# f 1 2 9\n" * 100_000 + "f 1 2 3\n").triangles) == 1


def test_a_missing_file_and_a_folder_get_one_line(tmp_path):
    for path in (tmp_path / "none.obj", tmp_path):
        with pytest.raises(FileError):
            obj.read(path)


def test_many_continued_lines_are_read(tmp_path):
    parse(tmp_path, "v 0 0 0\nf " + "1 \\\n" * 300_000 + "1")


@st.composite
def meshes(draw):
    count = draw(st.integers(1, 12))
    number = st.floats(-1e6, 1e6, width=32)
    points = draw(st.lists(st.tuples(number, number, number), min_size=count, max_size=count))
    sizes = draw(st.lists(st.integers(3, 6), max_size=8))
    corners = draw(st.lists(st.integers(0, count - 1), min_size=sum(sizes), max_size=sum(sizes)))
    return Mesh.from_polygons(np.array(points, dtype=np.float32), np.array(corners, dtype=np.int64), sizes)


@given(mesh=meshes())
def test_writing_and_reading_gives_the_mesh_back(folder, mesh):
    path = folder / "m.obj"
    obj.write(path, mesh)
    back = obj.read(path).meshes["m"]
    # Nine digits hold a float32 exactly.
    assert np.array_equal(back.points.astype(np.float32), mesh.points)
    assert np.array_equal(back.triangles, mesh.triangles)
    assert back.face_count == mesh.face_count
    corners, sizes = back.polygons()
    assert np.array_equal(Mesh.from_polygons(back.points, corners, sizes).triangles, mesh.triangles)
    assert list(path.parent.iterdir()) == [path]


def test_another_shape_of_the_mesh_can_be_written(tmp_path):
    mesh = parse(tmp_path, QUAD + "f 1 2 3 4\n")
    obj.write(tmp_path / "moved.obj", mesh, mesh.points + 1 / 3)
    moved = obj.read(tmp_path / "moved.obj").meshes["moved"]
    assert np.abs(moved.points - mesh.points - 1 / 3).max() < 5e-9
    with pytest.raises(InputError, match="points"):
        obj.write(tmp_path / "moved.obj", mesh, mesh.points[:2])


def test_writing_where_one_cannot_leaves_no_trace(tmp_path):
    mesh = parse(tmp_path, QUAD)
    with pytest.raises(FileError, match="cannot be written"):
        obj.write(tmp_path / "none" / "a.obj", mesh)


def test_a_mesh_is_no_rig_and_the_message_says_how_to_make_one(folder: Path) -> None:
    parse(folder, QUAD + "f 1 2 3 4\n", "face.obj")
    with pytest.raises(FileError, match=r"holds a mesh but no rig; .* ps\.Rig\.from_mesh\(ps\.load_mesh\(\.\.\.\)\)"):
        load_rig(folder / "face.obj")
    assert len(Rig.from_mesh(load_mesh(folder / "face.obj")).mesh.points) == 4


@settings(max_examples=300)
@given(junk=st.binary(max_size=30), where=st.integers(0, 80), drop=st.integers(0, 30))
def test_no_damage_gives_anything_but_one_line(folder, junk, where, drop):
    good = (QUAD + "f 1/1 2/2 3/3 4/4\nf -1 -2 -3 # end\n").encode()
    path = folder / "m.obj"
    path.write_bytes(good[:where] + junk + good[where + drop :])
    problem = ""
    try:
        obj.read(path)
    except FileError as error:
        problem = str(error)
    assert "\n" not in problem
