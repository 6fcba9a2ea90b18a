"""The registry of formats: every line names modules that exist and do what its kind asks for."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from posespace.formats import registry
from posespace.formats.registry import CLIPS, CONTENTS, EXPORT, FORMATS, MARKERS, MESH, SKIN


def test_each_ending_is_one_format_s_and_in_lower_case() -> None:
    endings = [ending for entry in FORMATS for ending in entry.endings]
    assert len(set(endings)) == len(endings)
    assert all(ending.startswith(".") and ending == ending.lower() for ending in endings)


@pytest.mark.parametrize("entry", [entry for entry in FORMATS if not entry.convert], ids=lambda entry: entry.name)
def test_the_modules_of_a_format_read_and_write(entry: registry.Format) -> None:
    for module in entry.reads.values():
        assert callable(importlib.import_module(f"posespace.formats.{module}").read)
    for module in entry.writes.values():
        assert callable(importlib.import_module(f"posespace.formats.{module}").write)
    # One reader returns all parts of Contents.
    assert len({entry.reads[kind] for kind in CONTENTS if kind in entry.reads}) <= 1


def test_endings_and_names_follow_from_the_table() -> None:
    assert registry.read_endings(MARKERS) == (".c3d", ".tsv", ".trc")
    assert registry.read_endings(SKIN) == (".skin", ".glb", ".gltf")
    assert registry.written_endings(EXPORT) == (".glb", ".gltf", ".html")
    assert registry.format_names(CLIPS) == "BVH, glTF, USD"
    assert registry.reads(Path("A.OBJ"), MESH)
    assert not registry.reads(Path("a.fbx"), *CONTENTS)


def test_the_registry_imports_no_format() -> None:
    code = (
        "import sys, posespace.formats.registry; print([m for m in sys.modules if m.startswith('posespace.formats.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['posespace.formats.registry']"
