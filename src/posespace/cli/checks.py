"""What is checked before a command starts, so that no work is lost to a wrong name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from posespace.errors import FileError, InputError

if TYPE_CHECKING:
    from posespace.examples import Examples


def open_examples(path: Path, poses: Sequence[str] = ()) -> Examples:
    """Return the finished examples of a store whose names match the patterns; raise where there are none."""
    from posespace.examples import Examples
    from posespace.formats.files import naming

    examples = Examples.open(path)
    if not len(examples):
        raise FileError(path, "holds no finished pose; finish it with --resume")
    with naming(path):
        return examples.named(*poses) if poses else examples


def require_folder(out: Path) -> None:
    """Raise unless the folder of the file to write exists and can be written to."""
    folder = out.absolute().parent
    if not folder.is_dir():
        raise FileError(out, "its folder does not exist; create it first")
    if not os.access(folder, os.W_OK):
        raise FileError(out, "cannot be written (its folder is read-only); choose another folder")


def require_skin_file(out: Path) -> None:
    """Raise unless a skin can be written there."""
    if out.suffix.lower() != ".skin":
        raise InputError(f"out: expected a name that ends in .skin, got {out}")
    require_folder(out)


def require_page(out: Path) -> None:
    """Raise unless a report can be written there."""
    if out.suffix.lower() != ".html":
        raise FileError(out, "a report is a web page; give it the ending .html")
    require_folder(out)
