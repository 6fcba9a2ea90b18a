"""Reading files: text saved in any way, ordinary files only, and no more work than a file's size explains."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from helpers.gltf_files import everything
from hypothesis import given, settings
from hypothesis import strategies as st

from posespace.errors import FileError
from posespace.formats import bvh, files, gltf, load, obj, ply, pose_json, text_numbers

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
BVH = "HIERARCHY\nROOT é\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n1\n2\n"
PLY = (
    "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
    "1 2 3\n4 5 6\n"
)
POSES = json.dumps({"fist": {"é": [0, 0, 0, 1]}}, ensure_ascii=False, indent=1)
TEXTS = {"mesh.obj": OBJ, "clip.bvh": BVH, "mesh.ply": PLY, "poses.json": POSES}


def summary(path: Path) -> object:
    """What a reader finds in one of the texts."""
    match path.suffix:
        case ".obj" | ".ply":
            return [mesh.points.tolist() for mesh in load.read(path).meshes.values()]
        case ".bvh":
            contents = bvh.read(path)
            return contents.skeleton.names, len(contents.motions["clip"])
        case ".gltf":
            return gltf.read(path).notes
        case _:
            return pose_json.read(path).joints


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", [*TEXTS, "made.gltf"])
def test_text_is_read_however_it_was_saved(tmp_path, name, ends, encoding):
    text = TEXTS[name] if name in TEXTS else everything().write(tmp_path).read_text()
    path = tmp_path / name
    path.write_bytes(text.encode())
    plain = summary(path)
    path.write_bytes(text.replace("\n", ends).encode(encoding))
    assert summary(path) == plain


def test_the_first_vertex_after_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "mesh.obj"
    path.write_bytes(OBJ.encode("utf-8-sig"))
    assert obj.read(path).meshes["mesh"].points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("name", [*TEXTS, "made.gltf"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_refused_by_name(tmp_path, name, encoding):
    path = tmp_path / name
    path.write_bytes(TEXTS.get(name, '{"asset": {}}').encode(encoding))
    with pytest.raises(FileError, match="UTF-16 without a byte-order mark; save it as UTF-8"):
        summary(path)


def test_a_marked_binary_ply_keeps_its_numbers(tmp_path):
    points = np.array([[13, 10, 2570], [3338, 0, 1]], np.float32)
    head = PLY.partition("end_header")[0].replace("ascii", "binary_little_endian")
    path = tmp_path / "mesh.ply"
    path.write_bytes(b"\xef\xbb\xbf" + head.encode() + b"end_header\n" + points.tobytes())
    assert ply.read(path).meshes["mesh"].points.tolist() == points.tolist()


ENDINGS = ["rig.glb", "rig.gltf", "mesh.obj", "mesh.ply", "clip.bvh", "poses.json"]


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_not_an_ordinary_file_is_refused_at_once(tmp_path, name, kind):
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(FileError, match=r"expected (an ordinary file|a file)"):
        pose_json.read(path) if name.endswith("json") else load.read(path)


def test_a_file_larger_than_is_read_is_refused_unread(tmp_path):
    path = tmp_path / "mesh.obj"
    path.touch()
    os.truncate(path, 3_000_000_000)
    with pytest.raises(FileError, match="at most 2147483648 are read"):
        obj.read(path)


def test_json_of_nothing_but_brackets_is_refused_unparsed(tmp_path):
    path = tmp_path / "poses.json"
    path.write_text("[" + "{}," * 1_400_000 + "{}]")
    with pytest.raises(FileError, match="1400002 lists and objects, more than a file of this size"):
        pose_json.read(path)


def test_a_link_inside_is_refused_and_the_folder_itself_may_be_one(tmp_path):
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert files.inside(tmp_path / "linked", "inner") == tmp_path / "linked" / "inner"
    (tmp_path / "real" / "out").symlink_to(tmp_path)
    with pytest.raises(FileError, match="is a link"):
        files.inside(tmp_path / "linked", "out", "real")


@settings(max_examples=200)
@given(st.lists(st.lists(st.floats(allow_nan=False), max_size=4), max_size=6), st.integers(1, 40))
def test_numbers_of_a_text_are_those_python_reads(rows, least):
    text = "\n".join(" ".join(map(repr, row)) for row in rows).encode()
    assert b"".join(text_numbers.blocks(text, least)) == text
    found = text_numbers.parse_all(text)
    assert found is not None
    assert found.tolist() == [value for row in rows for value in row]


@pytest.mark.parametrize("word", ["1-2", "1,5", "x", "1e", "--1", "0x10", "1_0", "1.2.3"])
def test_a_word_that_is_no_number_is_found(word):
    text = b"1 2\n3 " + word.encode() + b" 4\n"
    assert text_numbers.parse_all(text) is None
    assert text_numbers.first_bad(text) == word


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "kept.txt"
    file.write_text("as it was")
    file.chmod(0o444)
    with pytest.raises(FileError, match="is read-only; choose another output"), files.atomic_write(file) as temporary:
        temporary.write_text("other")
    assert file.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [file]
