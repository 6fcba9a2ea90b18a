"""Which marker moves which control point, and how, as a small JSON file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from posespace.errors import InputError, quoted, suggestion
from posespace.formats import files, own_json
from posespace.formats.checked_json import Fields
from posespace.markers.control_points import MarkerMapping

VERSION = 1
_FLAGS = ("nearest", "offsets", "keep_whole", "force")


def read(path: str | Path) -> MarkerMapping:
    """Read the settings of a `MarkerMapping`; those that the file does not name keep their defaults."""
    file = Path(path)
    content = own_json.read(file, "markers", VERSION, "a file that maps markers")
    with files.naming(file):
        known = [field.name for field in fields(MarkerMapping)]
        settings: dict[str, Any] = {}
        for key in content:
            if key in ("posespace", "version"):
                continue
            if key not in known:
                close = suggestion(key, known, listed=True)
                raise InputError(f"{quoted(key)}: expected one of {', '.join(known)}{close}")
            settings[key] = _value(content, key)
        return MarkerMapping(**settings)


def _value(content: Fields, key: str) -> Any:
    if key == "points":
        part = content.part(key)
        return {marker: part.text(marker) for marker in part}
    if key == "place_by":
        return tuple(content.texts(key))
    return content.flag(key) if key in _FLAGS else content.number(key)
