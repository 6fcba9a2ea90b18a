"""Shapes in NumPy files: a .npy of one shape or of many, a .npz of one such array or of one array per shape.

An archive is read shape by shape as it is unpacked, so that its arrays need not fit into memory.
"""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from posespace.budget import SHAPES
from posespace.check import Floats
from posespace.errors import FileError
from posespace.formats import files

NAMES = "names"
"""The array of an archive that has the names of the shapes."""

_MOST_EXPANDED = 200
"""An archive holds at most this many times its bytes: shapes are numbers that differ, which seldom pack tenfold."""

_ERRORS = (
    *(OSError, EOFError, ValueError, TypeError, OverflowError, KeyError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
    # The header of an array is a Python expression, and may be any other text.
    *(SyntaxError, RecursionError, tokenize.TokenError),
)

Named = tuple[str, Callable[[], Floats]]
"""The name of a shape, and a function that reads its points (N, 3)."""


def read(path: Path) -> list[Named]:
    """Return the name of each shape of a .npy or .npz file, and a function that reads its points."""
    files.size_of(path)
    shapes = _archive(path) if path.suffix.lower() == ".npz" else _single(path)
    if not shapes:
        raise FileError(path, "holds no shapes")
    if len(shapes) > SHAPES.any_file:
        raise FileError(path, f"holds {len(shapes)} shapes; at most {SHAPES.any_file} are read from one file")
    return shapes


def _single(path: Path) -> list[Named]:
    try:
        stack: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except _ERRORS as error:
        raise FileError(path, "cannot be read as a NumPy array (.npy, without pickled objects)") from error
    if not _is_shape(stack.dtype, stack.shape, 2) and not _is_shape(stack.dtype, stack.shape, 3):
        wanted = "(poses, vertices, 3) or (vertices, 3)"
        raise FileError(path, f"expected floats of shape {wanted}, got {stack.dtype} {stack.shape}")
    if stack.ndim == 2:
        return [(path.stem, lambda: np.asarray(stack))] if stack.size else []
    return [(f"{path.name}[{k}]", _row(stack, k)) for k in range(len(stack) if stack.size else 0)]


def _row(stack: NDArray[Any], index: int) -> Callable[[], Floats]:
    return lambda: np.asarray(stack[index])


def _archive(path: Path) -> list[Named]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [_member(path, archive, info) for info in archive.infolist() if info.filename.endswith(".npy")]
    except FileError:
        raise
    except _ERRORS as error:
        raise FileError(path, "cannot be read as an archive of NumPy arrays (.npz, without pickled objects)") from error
    stacks = [member for member in members if _is_shape(member.dtype, member.shape, 3)]
    if len(stacks) > 1:
        several = ", ".join(member.name[:40] for member in stacks[:4])
        raise FileError(path, f"holds several arrays of (poses, vertices, 3): {several}; keep the one of the shapes")
    if not stacks:
        single = [member for member in members if _is_shape(member.dtype, member.shape, 2)]
        if not single:
            raise FileError(path, "holds no array of floats of shape (poses, vertices, 3) or (vertices, 3)")
        return [(member.name, member.reader(0, len(member.shape))) for member in single]
    stack = stacks[0]
    if not stack.shape[0] * stack.shape[1]:
        return []
    count = min(stack.shape[0], SHAPES.any_file + 1)
    names = _names(path, members, stack.shape[0]) or [f"{path.name}[{k}]" for k in range(count)]
    return [(name, stack.reader(k, 3)) for k, name in enumerate(names)]


@dataclass
class _Member:
    """An array of an archive, by rows: its own file in the archive stays open from one row to the next.

    Parameters
    ----------
    path, name : the archive, and the array's name in it
    dtype, shape : its numbers
    start : the byte at which they begin
    """

    path: Path
    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    _stream: IO[bytes] | None = None

    def reader(self, index: int, axes: int) -> Callable[[], Floats]:
        """Return a function that reads row `index` of an array of three axes, or all of one of two."""
        shape = self.shape[axes - 2 :]
        return lambda: self.read(index * int(np.prod(shape)), int(np.prod(shape))).reshape(shape)

    def read(self, first: int, count: int) -> NDArray[Any]:
        """Return `count` numbers from number `first` on."""
        size = count * self.dtype.itemsize
        try:
            if self._stream is None:
                # Closed when the last of its readers is gone: a row is read long after the file was listed.
                self._stream = zipfile.ZipFile(self.path).open(f"{self.name}.npy")  # noqa: SIM115
            self._stream.seek(self.start + first * self.dtype.itemsize)
            data = self._stream.read(size)
        except _ERRORS as error:
            raise FileError(self.path, f"array {self.name[:40]!r} is damaged; save the archive again") from error
        if len(data) != size:
            raise FileError(self.path, f"array {self.name[:40]!r} is cut short; save the archive again")
        return np.frombuffer(data, self.dtype)


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    """Read the header of an array, and check that the archive holds as many bytes as it says."""
    name = info.filename.removesuffix(".npy")
    if info.file_size > _MOST_EXPANDED * info.compress_size + 2**16:
        raise FileError(
            path, f"array {name[:40]!r} unpacks to more than {_MOST_EXPANDED} times its bytes; save it plainly"
        )
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read_header(stream)
        start = stream.tell()
    if by_columns and len(shape) > 1:
        raise FileError(path, f"array {name[:40]!r} is stored by columns; save np.ascontiguousarray of it")
    bytes_said = start + int(np.prod([float(length) for length in shape])) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or bytes_said != info.file_size:
        raise FileError(path, f"array {name[:40]!r} has other bytes than its header says; save the archive again")
    return _Member(path, name, dtype, shape, start)


def _names(path: Path, members: list[_Member], count: int) -> list[str] | None:
    """Return the names of the `count` shapes of an archive, or None where it has no array of names."""
    member = next((member for member in members if member.name == NAMES and member.dtype.kind == "U"), None)
    if member is None:
        return None
    if member.shape != (count,):
        raise FileError(path, f"array {NAMES!r}: expected {count} names as there are shapes, got {member.shape}")
    return [str(name) for name in member.read(0, count)]


def _is_shape(dtype: np.dtype[Any], shape: tuple[int, ...], axes: int) -> bool:
    return dtype.kind == "f" and len(shape) == axes and shape[-1] == 3
