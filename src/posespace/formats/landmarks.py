"""Landmarks as JSON: the same named places on a template and on each of its scans, as vertices or as positions.

    {"template": {"wrist": 120, "thumb tip": [0.031, 0.2, 0.11]},
     "scans": {"fist.ply": {"wrist": [12.1, 3.3, 0.4], "thumb tip": 4711}}}

A scan goes by its file's name, with or without its ending. It may lack some landmarks, which are then not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from posespace.errors import FileError, InputError, quoted, suggestion
from posespace.formats import files
from posespace.formats.checked_json import Fields, shown

Spot = int | tuple[float, float, float]
"""A vertex by its number, or a position."""

Spots = Mapping[str, Spot]

_EXPECTED = '{"template": {NAME: VERTEX or [x, y, z], ...}, "scans": {FILE: {NAME: ...}, ...}}'

_MOST = 100_000
"""Landmarks of a mesh beyond which a file is refused."""


@dataclass(frozen=True)
class LandmarkFile:
    """Landmarks by name.

    Parameters
    ----------
    path : the file
    template : of the template
    scans : of each scan, by its file's name
    """

    path: Path
    template: Spots
    scans: Mapping[str, Spots]

    def of(self, scan: Path) -> Spots:
        """Return the landmarks of a scan's file."""
        for name in (scan.name, scan.stem):
            if name in self.scans:
                return self.scans[name]
        close = suggestion(scan.name, list(self.scans))
        raise InputError(f"landmarks: {self.path} has none for {scan.name!r}{close}")


def read_landmarks(path: str | Path) -> LandmarkFile:
    """Read a file of landmarks; names on a scan that the template lacks are refused."""
    file = Path(path)
    content = files.parse_json(file, files.read_text(file))
    with files.naming(file):
        fields = Fields(content, "the file")
        if not all(isinstance(content.get(part), dict) for part in ("template", "scans")):
            keys = ", ".join(shown(key) for key in list(content)[:6])
            raise InputError(f"expected landmarks, {_EXPECTED}, got an object with {keys or 'nothing in it'}")
        template = _spots(fields.part("template"), "template")
        scans = {name: _spots(part, name) for name, part in _parts(fields.part("scans"))}
        for name, spots in scans.items():
            for key in spots:
                if key not in template:
                    close = suggestion(key, list(template))
                    where = f"landmark {quoted(key)} of {quoted(name)}"
                    raise InputError(f"{where}: the template has none of that name{close}")
    return LandmarkFile(file, template, scans)


def write_landmarks(path: str | Path, template: Spots, scans: Mapping[str, Spots]) -> None:
    """Write a file of landmarks at once or not at all."""
    text = json.dumps({"template": dict(template), "scans": {name: dict(spots) for name, spots in scans.items()}})
    with files.atomic_write(Path(path)) as temporary:
        temporary.write_text(text + "\n")


def _parts(fields: Fields) -> list[tuple[str, Fields]]:
    return [(name, fields.part(name, where=f"landmarks of {shown(name)}")) for name in fields]


def _spots(fields: Fields, where: str) -> dict[str, Spot]:
    if len(fields.values) > _MOST:
        raise FileError(where, f"expected at most {_MOST} landmarks, got {len(fields.values)}")
    return {name: _spot(fields, name) for name in fields}


def _spot(fields: Fields, name: str) -> Spot:
    if isinstance(fields.values[name], list):
        x, y, z = fields.numbers(name, 3)
        return x, y, z
    return fields.integer(name, below=2**31)
