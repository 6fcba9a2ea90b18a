"""Reading and writing files safely: ordinary files only, bounded reads, any text, atomic writes, one-line errors."""

from __future__ import annotations

import codecs
import glob
import json
import math
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from posespace import budget
from posespace.errors import FileError, InputError, SettingError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows has no such locks.
    fcntl = None

MOST_BYTES = 2**31
"""A text or JSON file larger than this is not read; arrays in binary files are mapped, not read."""

_WIDE_MARKS = {
    # The mark of UTF-32 begins with that of UTF-16, so it is looked for first.
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open an ordinary file for reading: yields it and its size in bytes. A pipe would block, a device never end."""
    try:
        _require_ordinary(path, os.stat(path))
        # Without O_NONBLOCK, opening a pipe that has just taken the file's place would wait for a writer.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        handle = os.fdopen(number, "rb")
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(path, _unreadable(error)) from error
    with handle:
        status = os.fstat(number)
        _require_ordinary(path, status)
        yield handle, status.st_size


def size_of(path: Path) -> int:
    """Return the size of an existing, ordinary file in bytes."""
    with opened(path) as (_, size):
        return size


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the file's bytes; raise if it has more than `most`."""
    with opened(path) as (handle, size):
        if size > most:
            raise FileError(path, f"is {size} bytes; at most {most} are read")
        try:
            return handle.read(size)
        except OSError as error:
            raise FileError(path, _unreadable(error)) from error


def read_lines(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return a text file as UTF-8 whose lines end in a line feed, whichever way it was saved."""
    data = unmarked(path, read_bytes(path, most))
    if b"\0" in data:
        raise FileError(path, "holds zero bytes, which text has not; is it damaged, or another kind of file?")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return `read_lines` as a string; bytes that are not UTF-8 are replaced, since names and comments hold them."""
    return read_lines(path, most).decode("utf-8", errors="replace")


def unmarked(path: Path, data: bytes) -> bytes:
    """Return the text of a file as UTF-8 without a byte-order mark; UTF-16 and UTF-32 are known by their marks."""
    for mark, name in _WIDE_MARKS.items():
        if data.startswith(mark):
            try:
                return data.decode(name).encode("utf-8")
            except UnicodeError:
                raise FileError(path, f"is text in {name} that is damaged; save it as UTF-8") from None
    head = data[:4]
    if len(head) == 4 and (head[0:3:2] == b"\0\0") != (head[1:4:2] == b"\0\0"):
        raise FileError(path, "looks like text in UTF-16 without a byte-order mark; save it as UTF-8")
    return data.removeprefix(codecs.BOM_UTF8)


def parse_json(path: Path, text: str | bytes) -> Any:
    """Return what a JSON text of the file holds."""
    if not text:
        raise FileError(path, "is empty")
    lists = sum(text.count(sign) for sign in "{[") if isinstance(text, str) else text.count(b"{") + text.count(b"[")
    if lists > budget.LISTS.of(len(text)):
        raise FileError(path, f"holds {lists} lists and objects, more than a file of this size can need")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        first = str(error).splitlines()[0]
        raise FileError(path, f"is not valid JSON ({first})") from error


def inside(folder: Path, *names: str) -> Path:
    """Return the path of these names inside a folder; raise if one of them is a link, which may lead anywhere."""
    path = os.fspath(folder)
    for name in names:
        path = os.path.join(path, name)
        if os.path.islink(path):
            raise FileError(path, "is a link; links inside a store are not followed, so put the file itself there")
    return Path(path)


def map_file(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Map a file that holds this array and nothing else, as a read-only view."""
    with opened(path) as (handle, size):
        if size != math.prod(shape) * dtype.itemsize:
            raise FileError(path, f"is cut short or damaged (expected an array of shape {shape})")
        try:
            mapped: NDArray[Any] = np.memmap(handle, dtype=dtype, mode="r", shape=shape)
        except (OSError, ValueError) as error:
            raise FileError(path, f"cannot be mapped ({error})") from error
    return mapped


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; it replaces `path` if the block succeeds, else it is removed.

    A file that is marked as read-only is not replaced, though renaming over it would work.
    """
    if path.is_file() and not path.stat().st_mode & stat.S_IWUSR:
        raise FileError(path, "is read-only; choose another output, or allow writing to it")
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

    A folder that exists must be empty. Temporary folders that killed processes left for the same `path` are removed.
    """
    if path.name in ("", ".."):
        raise FileError(path, "expected the name of a new folder")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise FileError(path, "exists already and is not empty; remove it, or give another name")
        _remove_abandoned(path)
        temporary.mkdir()
        with _locked(temporary):
            yield temporary
            if path.exists():
                path.rmdir()
            temporary.rename(path)
    except FileError as error:
        # What went wrong in the temporary folder is said of the file that was meant.
        inside_it = error.path.is_relative_to(temporary)
        raise (FileError(path / error.path.relative_to(temporary), error.problem) if inside_it else error) from None
    except OSError as error:
        raise FileError(path, f"cannot be written ({_reason(error)})") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Yield whether the lock of a folder was free: it is then held, until this process ends in whatever way."""
    handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW) if fcntl is not None else -1
    try:
        yield handle >= 0 and _lock(handle)
    finally:
        if handle >= 0:
            os.close(handle)


def _lock(handle: int) -> bool:
    assert fcntl is not None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # Another process holds it, or this disk has no locks.
        return False
    return True


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary folders of `path` whose process has ended."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError), _locked(folder) as free:
            if free and folder.is_dir():
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name in front of errors about what was found in it; a setting is not from there."""
    try:
        yield
    except (FileError, SettingError):
        raise
    except InputError as error:
        raise FileError(path, str(error)) from error


def require_path_last(call: str, first: object) -> None:
    """Raise if a path was passed first to a function that is called like `call`."""
    if isinstance(first, str | Path):
        raise InputError(f"{call.partition('(')[0]}: expected the path last, got {str(first)!r} first; call {call}")


def _require_ordinary(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError(path, "expected a file, got a folder")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(path, "expected an ordinary file, got a pipe or a device")


def _unreadable(error: OSError | ValueError) -> str:
    return f"cannot be read ({_reason(error) if isinstance(error, OSError) else error})"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
