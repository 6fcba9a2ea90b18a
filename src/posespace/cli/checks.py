"""What is checked before a command starts, so that no work is lost to a wrong name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from posespace.errors import FileError, InputError

if TYPE_CHECKING:
    from posespace.examples import Examples
    from posespace.formats.frames import Rate


def open_examples(path: Path, poses: Sequence[str] = ()) -> Examples:
    """Return the finished examples of a store whose names match the patterns; raise where there are none."""
    from posespace.examples import Examples
    from posespace.formats.files import naming

    examples = Examples.open(path)
    if not len(examples):
        raise FileError(path, "holds no finished pose; finish it with --resume")
    with naming(path):
        return examples.named(*poses) if poses else examples


def require_motion(motion: Path | None, clip: str | None, rate: Rate, option: str = "--motion") -> None:
    """Raise if a clip or a rate is given for a motion that is not."""
    if motion is None and (clip is not None or rate is not None):
        raise InputError(f"{'--clip' if clip is not None else '--rate'}: expected {option} FILE with it")


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
