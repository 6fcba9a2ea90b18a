"""The rig, mesh, skin or markers of a file, read by the module that the registry names for its ending."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from posespace.errors import FileError, quoted, suggestion
from posespace.formats import registry
from posespace.formats.contents import Contents
from posespace.formats.frames import EVERYTHING, Wanted
from posespace.formats.joining import name_omitted
from posespace.formats.registry import CLIPS, CONTENTS, MARKERS, SKIN
from posespace.markers.markers import Markers
from posespace.mesh import Mesh
from posespace.rig import Rig
from posespace.skin.skin import Skin

NO_MOTIONS = Wanted("none")

T = TypeVar("T")


def read(path: str | Path, wanted: Wanted = EVERYTHING) -> Contents:
    """Return all that a rig, mesh or motion file holds; of its clips, those that are wanted become motions."""
    file = Path(path)
    module = registry.reader(file, *CONTENTS)
    contents: Contents = module.read(file, wanted) if registry.reads(file, CLIPS) else module.read(file)
    return name_omitted(contents)


def load_rig(path: str | Path, name: str | None = None) -> Rig:
    """Return the rig of a file: the one called `name`, or the one with most vertices."""
    contents = read(path, NO_MOTIONS)
    if not contents.rigs and contents.meshes:
        remedy = "make one driven by controls: ps.Rig.from_mesh(ps.load_mesh(...))"
        raise FileError(contents.path, f"holds a mesh but no rig; {remedy}")
    return chosen(contents.path, "rig", contents.rigs, name)


def load_mesh(path: str | Path, name: str | None = None) -> Mesh:
    """Return the mesh of a file, in the file's vertex order: the one called `name`, or the first (rigs' rest first)."""
    contents = read(path, NO_MOTIONS)
    meshes = {key: rig.mesh for key, rig in contents.rigs.items()} | contents.meshes
    return chosen(contents.path, "mesh", meshes, name)


def rig_or_mesh(contents: Contents) -> Rig:
    """Return the first rig of a file; a mesh alone becomes a rig driven by controls."""
    if contents.rigs:
        return next(iter(contents.rigs.values()))
    if not contents.meshes:
        raise FileError(contents.path, "holds no rig and no mesh")
    return Rig.from_mesh(next(iter(contents.meshes.values())))


def load_markers(path: str | Path) -> Markers:
    """Return the take of a file of markers: C3D, TSV or TRC."""
    contents = read(path, NO_MOTIONS)
    if contents.markers is None:
        endings = " ".join(registry.read_endings(MARKERS))
        raise FileError(contents.path, f"holds no markers; known endings are {endings}")
    return contents.markers


def load_skin(path: str | Path) -> Skin:
    """Return the skin of a skin file, or of a glTF file that a skin was exported to."""
    file = Path(path)
    if registry.is_foreign(file):
        raise registry.unread(file, SKIN)
    if registry.reads(file, SKIN):
        skin: Skin = registry.reader(file, SKIN).read(file)
        return skin
    from posespace.formats import skin_file

    return skin_file.read(file)


def is_skin_file(path: str | Path) -> bool:
    """Whether files of this ending hold a skin and nothing else."""
    entry = registry.format_of(Path(path))
    return entry is not None and set(entry.reads) == {SKIN}


def is_skin(path: str | Path) -> bool:
    """Whether a file holds a skin: by its ending, or, where the format also holds other things, by what is in it."""
    file = Path(path)
    return is_skin_file(file) or (registry.reads(file, SKIN) and bool(registry.reader(file, SKIN).is_skin(file)))


def chosen(path: Path, what: str, by_name: dict[str, T], name: str | None) -> T:
    """Return the entry of a file called `name`, or the first; raise where there is none, with the closest name."""
    if not by_name:
        raise FileError(path, f"holds no {what}")
    if name is None:
        return next(iter(by_name.values()))
    if name not in by_name:
        close = suggestion(name, list(by_name))
        raise FileError(path, f"holds no {what} {quoted(name)} among its {len(by_name)}{close}")
    return by_name[name]
