"""Reading and writing files safely: bounded reads, atomic writes, one-line errors."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from posespace.errors import FileError, InputError

MOST_BYTES = 2**31
"""A text or JSON file larger than this is not read; arrays in binary files are mapped, not read."""


def size_of(path: Path) -> int:
    """Return the size of an existing, ordinary file in bytes."""
    try:
        found = path.stat()
    except OSError as error:
        raise FileError(path, f"cannot be read ({_reason(error)})") from error
    if not stat.S_ISREG(found.st_mode):
        # A pipe would block and a device may never end.
        raise FileError(path, "expected a file, got a folder" if path.is_dir() else "expected an ordinary file")
    return found.st_size


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the file's bytes; raise if it has more than `most`."""
    size = size_of(path)
    if size > most:
        raise FileError(path, f"is {size} bytes; at most {most} are read")
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(path, f"cannot be read ({_reason(error)})") from error


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the file as text, UTF-8; bytes that are not UTF-8 are replaced, since names and comments hold them."""
    return read_bytes(path, most).decode("utf-8", errors="replace")


def parse_json(path: Path, text: str | bytes) -> Any:
    """Return what a JSON text of the file holds."""
    if not text:
        raise FileError(path, "is empty")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        first = str(error).splitlines()[0]
        raise FileError(path, f"is not valid JSON ({first})") from error


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; it replaces `path` if the block succeeds, else it is removed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise FileError(path, f"cannot be written ({_reason(error)})") from error
    finally:
        # Where nothing can be written, nothing can be removed either: that must not hide what went wrong.
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder next to `path`; it becomes `path` if the block succeeds, else it is removed.

    A folder that exists must be empty.
    """
    if path.name in ("", ".."):
        raise FileError(path, "expected the name of a new folder")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise FileError(path, "exists already and is not empty; remove it, or give another name")
        temporary.mkdir()
        yield temporary
        if path.exists():
            path.rmdir()
        temporary.rename(path)
    except FileError as error:
        # What went wrong in the temporary folder is said of the file that was meant.
        raise (FileError(path / error.path.name, error.problem) if error.path.parent == temporary else error) from None
    except OSError as error:
        raise FileError(path, f"cannot be written ({_reason(error)})") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name in front of errors about what was found in it."""
    try:
        yield
    except FileError:
        raise
    except InputError as error:
        raise FileError(path, str(error)) from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
