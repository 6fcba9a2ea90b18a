"""What is checked before a command starts, so that no work is lost to a wrong name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from posespace.errors import FileError, InputError

if TYPE_CHECKING:
    from posespace.examples import Examples
    from posespace.motion import Motion
    from posespace.skeleton import Skeleton


def open_examples(path: Path, only: Sequence[str] = ()) -> Examples:
    """Return the finished examples of a store whose names match the patterns; raise where there are none."""
    from posespace.examples import Examples
    from posespace.formats.files import naming

    examples = Examples.open(path)
    if not len(examples):
        raise FileError(path, "holds no finished pose; finish it with --resume")
    with naming(path):
        return examples.named(*only) if only else examples


def open_motion(
    path: Path | None, skeleton: Skeleton, only: Sequence[str], partial: bool, whole: bool = False
) -> Motion | None:
    """Return the chosen poses of the motion given by ``--motion``; None where none is given."""
    from posespace.formats.load import load_motion

    if path is None:
        if only or partial:
            raise InputError("--only and --partial choose poses of a motion; give it with --motion FILE")
        return None
    return load_motion(path, skeleton, whole=whole, only=only, partial=partial)


def require_folder(out: Path) -> None:
    """Raise unless the folder of the file to write exists."""
    if not out.absolute().parent.is_dir():
        raise FileError(out, "its folder does not exist; create it first")


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
