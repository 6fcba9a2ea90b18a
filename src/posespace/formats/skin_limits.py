"""Joint limits in a copy of a skin file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from posespace.errors import FileError
from posespace.formats import skin_file
from posespace.skeleton import Ranges


def write(source: Path, path: Path, ranges: Ranges) -> None:
    """Write a copy of a skin file in which its rig has these limits and no others."""
    if path.suffix.lower() != source.suffix.lower():
        raise FileError(path, f"expected a file that ends in {source.suffix}, as {source.name} does")
    skin = skin_file.read(source)
    rig = replace(skin.rig, skeleton=skin.rig.skeleton.with_ranges(ranges))
    skin_file.write(path, replace(skin, rig=rig))
