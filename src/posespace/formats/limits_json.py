"""Joint limits as JSON, by the names of joints and axes, in degrees: a whole file, and a joint's part of glTF."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from posespace.errors import InputError, quoted
from posespace.formats import files, own_json
from posespace.formats.checked_json import Fields, printable
from posespace.skeleton import AXES, Ranges

VERSION = 1


def is_limits(path: Path) -> bool:
    """Whether a JSON file says at its beginning that it holds joint limits."""
    return re.match(r'\s*{\s*"posespace"\s*:\s*"limits"', files.read_text(path)) is not None


def read(path: str | Path) -> Ranges:
    """Read a file of joint limits."""
    file = Path(path)
    fields = own_json.read(file, "limits", VERSION, "a file of joint limits")
    with files.naming(file):
        joints = fields.part("limits", where="limits")
        return {printable(joint): ranges_in(joints.part(joint, where=f"joint {quoted(joint)}")) for joint in joints}


def write(path: Path, ranges: Ranges) -> None:
    """Write a file of joint limits."""
    content = {"posespace": "limits", "version": VERSION, "limits": plain(ranges)}
    with files.atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def plain(ranges: Ranges) -> dict[str, Any]:
    """Return limits as JSON holds them."""
    return {joint: {axis: list(ends) for axis, ends in by_axis.items()} for joint, by_axis in ranges.items()}


def ranges_in(fields: Fields) -> dict[str, tuple[float, float]]:
    """Return a joint's limits by axis."""
    ranges: dict[str, tuple[float, float]] = {}
    for axis in fields:
        if axis not in AXES:
            raise InputError(f"{fields.where}: expected axes {', '.join(AXES)}, got {axis[:20]!r}")
        low, high = fields.numbers(axis, 2)
        ranges[axis] = (low, high)
    return ranges
