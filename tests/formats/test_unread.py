"""Files that are not read: the message names the way to one that is, and the docs describe it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.commands import assert_one_line, run

import posespace as ps
from posespace.formats.registry import FORMATS, GUIDE, MESH, unread


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("a.fbx", "is FBX, which is not read; import it in Blender and export GLB: docs/"),
        ("a.BLEND", "is a Blender scene, which is not read; open it in Blender and export GLB: docs/"),
        ("a.abc", "is Alembic, which is not read; import it in Blender and export OBJ with Animation"),
        ("a.max", "is a 3ds Max scene, which is not read; export FBX from 3ds Max, import that in Blender"),
    ],
)
def test_a_file_of_another_program_names_the_way(tmp_path: Path, name: str, way: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"any")
    for load in (ps.load_rig, ps.load_mesh, ps.load_motion, ps.Skin.load):
        with pytest.raises(ps.FileError, match=re.escape(f"{name}: {way}")):
            load(path)
    assert_one_line(run("info", path), way)
    assert_one_line(run("bones", path, "-o", tmp_path / "b.examples"), way)
    assert_one_line(run("simulate", path, "-o", tmp_path / "c.examples"), way)


def test_any_other_ending_names_those_that_are_read(tmp_path: Path) -> None:
    with pytest.raises(ps.FileError, match=r"a\.xyz: cannot be read; known endings are \.glb \.gltf"):
        ps.load_rig(tmp_path / "a.xyz")


def test_the_guide_is_a_section_of_the_docs_and_nothing_in_it_is_read() -> None:
    page, _, anchor = GUIDE.partition("#")
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    headings = [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]
    assert anchor in [heading.lower().replace(" ", "-") for heading in headings]
    assert not any(entry.convert and (entry.reads or entry.writes) for entry in FORMATS)
    assert str(unread(Path("a.fbx"), MESH)).endswith(f": {GUIDE}")
