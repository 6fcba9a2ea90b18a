"""Which marker moves which control point, and how, as a small JSON file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from posespace.errors import FileError, InputError, closest_name, quoted
from posespace.formats import files
from posespace.formats.checked_json import Fields
from posespace.markers.driving import MarkerDrive

VERSION = 1
_MOST_BYTES = 10_000_000
_FLAGS = ("nearest", "offsets", "keep_whole", "force")


def read(path: str | Path) -> MarkerDrive:
    """Read the settings of a `MarkerDrive`; those that the file does not name keep their defaults."""
    file = Path(path)
    content = files.parse_json(file, files.read_text(file, _MOST_BYTES))
    with files.naming(file):
        given = Fields(content, "the file")
        if given.values.get("posespace") != "markers":
            raise FileError(
                file, 'is not a file that maps markers; it begins with "posespace": "markers", "version": 1'
            )
        if given.integer("version") != VERSION:
            raise FileError(file, f"expected version {VERSION}, got {given.integer('version')}")
        known = [field.name for field in fields(MarkerDrive)]
        settings: dict[str, Any] = {}
        for key in given:
            if key in ("posespace", "version"):
                continue
            if key not in known:
                raise InputError(
                    f"{quoted(key)}: expected one of {', '.join(known)}; the closest is {closest_name(key, known)}"
                )
            settings[key] = _value(given, key)
        return MarkerDrive(**settings)


def _value(given: Fields, key: str) -> Any:
    if key == "points":
        part = given.part(key)
        return {marker: part.text(marker) for marker in part}
    if key == "place_by":
        return tuple(given.texts(key))
    return given.flag(key) if key in _FLAGS else given.number(key)
