"""Files of other programs that are not read, and the way from each to a file that is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from posespace.errors import FileError

GUIDE = "docs/files.md#files-of-other-programs"
"""Where the ways are described."""

_BLENDER = "open it in Blender and export GLB"
_IMPORT = "import it in Blender and export GLB"
_WAYS = {
    ".fbx": ("FBX", _IMPORT),
    ".dae": ("Collada", _IMPORT),
    ".blend": ("a Blender scene", _BLENDER),
    ".vrm": ("VRM", "rename a copy to .glb: VRM is glTF"),
    ".abc": ("Alembic", "import it in Blender and export OBJ with Animation, one file per frame"),
    ".stl": ("STL", "import it in Blender and export OBJ"),
    ".3ds": ("3D Studio", _IMPORT),
    ".max": ("a 3ds Max scene", "export FBX from 3ds Max, import that in Blender and export GLB"),
    ".ma": ("a Maya scene", "export FBX from Maya, import that in Blender and export GLB"),
    ".mb": ("a Maya scene", "export FBX from Maya, import that in Blender and export GLB"),
    ".c4d": ("a Cinema 4D scene", "export GLB from Cinema 4D"),
    ".hip": ("a Houdini scene", "export GLB from Houdini"),
    ".ztl": ("a ZBrush tool", "export OBJ from ZBrush"),
    ".zpr": ("a ZBrush project", "export OBJ from ZBrush"),
}
"""By ending: what such a file is, and the way to a file that is read."""


def unread(path: Path, known: Iterable[str]) -> FileError:
    """Return the error about a file of an ending that no reader has; `known` are the endings that could be read."""
    if path.suffix.lower() not in _WAYS:
        return FileError(path, f"cannot be read; known endings are {' '.join(known)}")
    kind, way = _WAYS[path.suffix.lower()]
    return FileError(path, f"is {kind}, which is not read; {way}: {GUIDE}")


def is_foreign(path: Path) -> bool:
    """Whether a file is known, by its ending, to be one of another program that is not read."""
    return path.suffix.lower() in _WAYS
