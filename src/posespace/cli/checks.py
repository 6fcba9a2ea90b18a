"""Checks of the arguments before a command starts, so that a wrong name costs no work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from posespace.cli.printing import note
from posespace.errors import FileError, InputError

if TYPE_CHECKING:
    from posespace.examples import Examples
    from posespace.formats.pose_choice import PoseChoice
    from posespace.motion import Motion
    from posespace.skeleton import Skeleton


def open_examples(path: Path, only: Sequence[str] = ()) -> Examples:
    """Return the finished examples of a store whose names match the patterns; raise where there are none."""
    from posespace.examples import Examples
    from posespace.formats.files import naming

    require_store(path)
    examples = Examples.open(path)
    if not len(examples):
        remedy = f"finish it with --resume, or unmute sculpts with `posespace sculpts {path.name} mute '*' --off`"
        raise FileError(path, f"holds no finished pose that is not muted; {remedy}")
    with naming(path):
        return examples.named(*only) if only else examples


def require_store(path: Path) -> None:
    """Raise if a path cannot be an example store; the message says how to make one."""
    is_folder = path.is_dir()
    if is_folder and os.path.lexists(path / "zarr.json"):
        return
    if not is_folder and not path.exists() and not any(letter in path.name for letter in "*?["):
        raise FileError(path, "does not exist")
    kind = "is a folder without zarr.json" if is_folder else "is a file" if path.exists() else "is a pattern of files"
    if path.suffix.lower() == ".skin":
        raise FileError(path, f"{kind}, not an example store; give the examples, not a skin that was fitted to them")
    remedy = "`posespace examples` (shapes of a rig), `posespace bones` (shapes alone) or `posespace register` (scans)"
    raise FileError(path, f"{kind}, not an example store; make one with {remedy}")


def open_motion(path: Path | None, skeleton: Skeleton, choice: PoseChoice, whole: bool = False) -> Motion | None:
    """Return the chosen poses of the file of ``--motion``; None without the option."""
    require_motion(path, choice)
    return None if path is None else choice.load(path, skeleton, whole, note)


def require_motion(motion: Path | None, choice: PoseChoice, clips: Sequence[str] = ()) -> None:
    """Raise if pose options are used without ``--motion``."""
    used = {
        "--clip": choice.clip is not None or bool(clips),
        "--rate": choice.rate is not None,
        "--only": bool(choice.only),
        "--partial": choice.partial,
        "--markers": choice.markers is not None,
    }
    if motion is None and any(used.values()):
        raise InputError(f"{next(name for name in used if used[name])}: needs --motion FILE")


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
