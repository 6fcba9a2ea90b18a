"""The file formats: one line per format, with its endings and the modules that read and write it.

To add a reader, a marker format or an exporter, write its module and add a line to `FORMATS`. Loading, saving,
exporting, the commands' help and the messages about unknown endings follow from this table. It names modules without
importing them, so that a program loads only what it uses.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from posespace.errors import FileError

MESH, RIG, CLIPS, MARKERS = CONTENTS = ("mesh", "rig", "clips", "markers")
"""Parts of `Contents`. Read by `read(path)`, or `read(path, wanted)` if the format holds clips; a mesh is written by
`write(path, mesh)`."""
POSES = "poses"
"""`read(path)` returns a `PoseFile`; `write(path, motion, skeleton)`."""
SHAPES = "shapes"
"""Arrays of points: `read(path)` returns the name of each shape, and a function that reads its points."""
SKIN = "skin"
"""`read(path)` returns a Skin; `is_skin(path)` tells whether a file has one, if the format also holds other things."""
EXPORT = "export"
"""A skin for other programs: `write(path, scene)` returns one line on each thing that the format cannot hold."""
LIMITS = "limits"
"""Joint limits alone: `read(path)` returns ranges; `write(path, ranges)`."""
LIMITED = "limited"
"""A copy of a file with other joint limits: `write(source, path, ranges)`."""

GUIDE = "docs/files.md#files-of-other-programs"
"""Describes how to convert files of other programs."""


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    name : as people call it
    endings : of its files, in lower case
    reads : by what is read, the module of `posespace.formats` that reads it
    writes : by what is written, the module of `posespace.formats` that writes it
    convert : of a format that is not read: how to convert such a file to one that is
    """

    name: str
    endings: tuple[str, ...]
    reads: Mapping[str, str] = field(default_factory=dict)
    writes: Mapping[str, str] = field(default_factory=dict)
    convert: str = ""


def _each(module: str, *kinds: str) -> dict[str, str]:
    return dict.fromkeys(kinds, module)


_GLTF_WRITERS = {MESH: "gltf.write.mesh", EXPORT: "gltf.write", LIMITED: "gltf.limits"}
_IMPORT, _EXPORT_FBX = "import it in Blender and export GLB", "import that in Blender and export GLB"

FORMATS = (
    Format("skin", (".skin",), {SKIN: "skin_file"}, {SKIN: "skin_file", LIMITED: "skin_limits"}),
    Format("glTF", (".glb", ".gltf"), {**_each("gltf", MESH, RIG, CLIPS), SKIN: "gltf.skin"}, _GLTF_WRITERS),
    Format("OBJ", (".obj",), {MESH: "obj"}, {MESH: "obj"}),
    Format("PLY", (".ply",), {MESH: "ply"}, {MESH: "ply"}),
    Format("BVH", (".bvh",), {CLIPS: "bvh"}),
    Format("USD", (".usd", ".usda", ".usdc", ".usdz"), _each("usd", MESH, RIG, CLIPS)),
    Format("C3D", (".c3d",), {MARKERS: "c3d"}),
    Format("TSV", (".tsv",), {MARKERS: "tsv"}),
    Format("TRC", (".trc",), {MARKERS: "trc"}),
    Format("JSON", (".json",), *({POSES: "pose_json", LIMITS: "limits_json"},) * 2),
    Format("NumPy", (".npy", ".npz"), {SHAPES: "numpy_shapes"}),
    Format("page", (".html",), writes={EXPORT: "viewer"}),
    Format("FBX", (".fbx",), convert=_IMPORT),
    Format("Collada", (".dae",), convert=_IMPORT),
    Format("a Blender scene", (".blend",), convert="open it in Blender and export GLB"),
    Format("VRM", (".vrm",), convert="rename a copy to .glb: VRM is glTF"),
    Format("Alembic", (".abc",), convert="import it in Blender and export OBJ with Animation, one file per frame"),
    Format("STL", (".stl",), convert="import it in Blender and export OBJ"),
    Format("3D Studio", (".3ds",), convert=_IMPORT),
    Format("a 3ds Max scene", (".max",), convert=f"export FBX from 3ds Max, {_EXPORT_FBX}"),
    Format("a Maya scene", (".ma", ".mb"), convert=f"export FBX from Maya, {_EXPORT_FBX}"),
    Format("a Cinema 4D scene", (".c4d",), convert="export GLB from Cinema 4D"),
    Format("a Houdini scene", (".hip",), convert="export GLB from Houdini"),
    Format("a ZBrush tool", (".ztl",), convert="export OBJ from ZBrush"),
    Format("a ZBrush project", (".zpr",), convert="export OBJ from ZBrush"),
)

_BY_ENDING = {ending: entry for entry in FORMATS for ending in entry.endings}


def format_of(path: Path) -> Format | None:
    """Return the format of a file by its ending, or None if the ending is unknown."""
    return _BY_ENDING.get(path.suffix.lower())


def reads(path: Path, *kinds: str) -> bool:
    """Whether one of these kinds of content is read from files with this ending."""
    entry = format_of(path)
    return entry is not None and any(kind in entry.reads for kind in kinds)


def is_foreign(path: Path) -> bool:
    """Whether a file is of another program, by its ending, and is not read."""
    entry = format_of(path)
    return entry is not None and bool(entry.convert)


def read_endings(*kinds: str) -> tuple[str, ...]:
    """Return the endings of files from which one of these kinds of content is read."""
    return tuple(ending for entry in FORMATS if any(kind in entry.reads for kind in kinds) for ending in entry.endings)


def written_endings(kind: str) -> tuple[str, ...]:
    """Return the endings of files to which a kind of content is written."""
    return tuple(ending for entry in FORMATS if kind in entry.writes for ending in entry.endings)


def format_names(*kinds: str) -> str:
    """Return the names of the formats from which one of these kinds is read, for help: "BVH, glTF, USD"."""
    return ", ".join(sorted((entry.name for entry in FORMATS if set(kinds) & set(entry.reads)), key=str.lower))


def reader(path: Path, *kinds: str) -> Any:
    """Return the module that reads one of these kinds of content from a file; raise where there is none."""
    entry = format_of(path)
    for kind in kinds:
        if entry is not None and kind in entry.reads:
            return _module(entry.reads[kind])
    raise unread(path, *kinds)


def writer(path: Path, kind: str, what: str) -> Any:
    """Return the module that writes a kind of content to a file; `what` says it in the error where there is none."""
    entry = format_of(path)
    if entry is None or kind not in entry.writes:
        raise FileError(path, f"cannot be written; {what} to {' '.join(written_endings(kind))}")
    return _module(entry.writes[kind])


def unread(path: Path, *kinds: str, also: tuple[str, ...] = ()) -> FileError:
    """Return the error about a file from which these kinds are not read; `also` are further endings that are known."""
    entry = format_of(path)
    if entry is not None and entry.convert:
        return FileError(path, f"is {entry.name}, which is not read; {entry.convert}: {GUIDE}")
    return FileError(path, f"cannot be read; known endings are {' '.join((*read_endings(*kinds), *also))}")


def _module(name: str) -> Any:
    return importlib.import_module(f"posespace.formats.{name}")
