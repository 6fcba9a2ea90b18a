"""C3D: the markers of a motion capture take. Only the points are read, not the analogue channels beside them.

The file is blocks of 512 bytes: a header, parameters in groups, then the frames. Numbers are those of the processor
that wrote it: Intel, DEC or MIPS; coordinates are floats, or whole numbers times a scale.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from posespace.budget import TAKE_BYTES
from posespace.check import Floats
from posespace.errors import FileError
from posespace.formats import files
from posespace.formats.contents import Contents, unique
from posespace.formats.marker_rows import renamed_notes
from posespace.markers.markers import Markers
from posespace.mesh import UNITS

_BLOCK = 512
_KEY = 0x50
_INTEL, _DEC, _MIPS = 84, 85, 86
_MOST_PARAMETERS = 255 * _BLOCK
"""Bytes that the parameters may take: their number of blocks is one byte."""


@dataclass(frozen=True)
class _Numbers:
    """How the processor that wrote a file writes numbers: its order of bytes, and whether its floats are DEC's."""

    order: str
    is_dec: bool

    def words(self, data: bytes) -> NDArray[np.uint16]:
        return np.frombuffer(data, f"{self.order}u2", len(data) // 2).astype(np.uint16)

    def floats(self, data: bytes) -> Floats:
        """Return 32-bit floats (n,) as doubles. DEC's have their halves swapped and count as a quarter."""
        count = len(data) // 4
        if not self.is_dec:
            return np.frombuffer(data, f"{self.order}f4", count).astype(np.float64)
        halves = np.frombuffer(data, "<u2", 2 * count).reshape(-1, 2)[:, ::-1].copy()
        return halves.view("<f4").ravel().astype(np.float64) / 4.0


@dataclass(frozen=True)
class _Layout:
    """What the header says of the frames."""

    points: int
    analogue: int
    """Analogue samples of one frame, all channels and subframes together."""
    frames: int
    scale: float
    """Of whole numbers; zero or below: the coordinates are floats."""
    start: int
    """Byte at which the frames start."""
    rate: float

    @property
    def width(self) -> int:
        """Bytes of one number."""
        return 4 if self.scale <= 0 else 2

    @property
    def frame_bytes(self) -> int:
        """Bytes of one frame."""
        return (4 * self.points + self.analogue) * self.width


def read(path: Path) -> Contents:
    """Read the markers and their frames; a marker without a label is called by its number."""
    with files.opened(path) as (handle, size):
        header = handle.read(_BLOCK)
        if len(header) < _BLOCK or header[1] != _KEY:
            raise FileError(path, "is not a C3D file: its header lacks the key 80")
        numbers, parameters = _parameters(path, handle, size, header[0])
        layout = _layout(path, header, numbers, parameters)
        positions, seen = _frames(path, handle, size, numbers, layout)
    labels = _labels(parameters, layout.points)
    names = tuple(unique(labels, "marker"))
    word = str((parameters.get("POINT:UNITS") or [""])[0])
    unit = UNITS.get(word.lower())
    notes = [] if unit else [f"its unit of length, {word[:20]!r}, is none that is known; taken as mm"]
    with files.naming(path):
        markers = Markers(names, positions, seen, layout.rate, unit or UNITS["mm"])
    return Contents(path, "C3D", markers=markers, notes=(*notes, *renamed_notes(names, labels)))


def _parameters(path: Path, handle: BinaryIO, size: int, block: int) -> tuple[_Numbers, dict[str, list[Any]]]:
    """Return how numbers are written, and the values of the parameters by "GROUP:NAME"."""
    if not block >= 2 or (block - 1) * _BLOCK + 4 > size:
        raise FileError(path, f"its parameters are said to start at block {block}, which it has not; is it cut short?")
    handle.seek((block - 1) * _BLOCK)
    data = handle.read(_MOST_PARAMETERS)
    orders = {_INTEL: _Numbers("<", False), _DEC: _Numbers("<", True), _MIPS: _Numbers(">", False)}
    numbers = orders.get(data[3])
    if numbers is None:
        raise FileError(path, f"expected a processor of type 84, 85 or 86, got {data[3]}")
    groups: dict[int, str] = {}
    entries: list[tuple[int, str, list[Any]]] = []
    at = 4
    while at + 4 < len(data) and data[at] != 0:
        letters = abs(struct.unpack_from("b", data, at)[0])
        group = struct.unpack_from("b", data, at + 1)[0]
        name = data[at + 2 : at + 2 + letters].decode("latin-1").strip().upper()
        body = at + 2 + letters
        step = int(numbers.words(data[body : body + 2])[0]) if body + 2 <= len(data) else 0
        if group < 0:
            groups[-group] = name
        elif group > 0:
            # Never beyond the next one: parameters that overlap would take the square of the file to read.
            entries.append((group, name, _values(numbers, data[body + 2 : body + step if step else None])))
        if step < 2:
            break
        at = body + step
    return numbers, {f"{groups.get(group, '')}:{name}": values for group, name, values in entries}


def _values(numbers: _Numbers, body: bytes) -> list[Any]:
    """Return the values of one parameter: strings, or numbers; none where it is cut short or of an unknown kind."""
    if len(body) < 2:
        return []
    kind, dimensions = struct.unpack_from("bB", body)
    shape = list(body[2 : 2 + dimensions])
    count = 1
    for length in shape:
        count *= length
        if count > len(body):
            return []
    data = body[2 + dimensions :][: count * abs(kind)]
    if len(data) < count * abs(kind) or not count:
        return []
    if kind == -1:
        length = shape[0] if shape else 1
        return [data[k : k + length].decode("latin-1").strip(" \0") for k in range(0, count, length)]
    if kind == 4:
        return list(numbers.floats(data).tolist())
    return list(numbers.words(data).tolist()) if kind == 2 else []


def _layout(path: Path, header: bytes, numbers: _Numbers, parameters: dict[str, list[Any]]) -> _Layout:
    """Return what the frames are, from the header; parameters hold what is too large for it."""
    words = numbers.words(header[:24])
    points, analogue, first, last, start = (int(words[k]) for k in (1, 2, 3, 4, 8))
    scale, rate = (float(numbers.floats(header[k : k + 4])[0]) for k in (12, 20))
    frames = last - first + 1
    begin, end = (parameters.get(f"TRIAL:ACTUAL_{name}_FIELD", []) for name in ("START", "END"))
    if len(begin) == len(end) == 2 and all(isinstance(word, int) for word in begin + end):
        frames = (end[1] - begin[1]) * 65536 + end[0] - begin[0] + 1
    if start < 2:
        raise FileError(path, f"its frames are said to start at block {start}, where the header is")
    if not np.isfinite(scale) or not np.isfinite(rate) or not rate > 0:
        raise FileError(path, f"expected frames per second above 0 and a scale, got {rate:g} and {scale:g}")
    if frames < 1 or not points:
        raise FileError(path, f"holds no markers: {points} points in {max(frames, 0)} frames")
    return _Layout(points, analogue, frames, scale, (start - 1) * _BLOCK, rate)


def _frames(
    path: Path, handle: BinaryIO, size: int, numbers: _Numbers, layout: _Layout
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the positions (F, M, 3) and whether each is seen (F, M): its fourth number is not below zero."""
    wanted = layout.frames * layout.frame_bytes
    if layout.start + wanted > size:
        raise FileError(path, f"is cut short: {layout.frames} frames of {layout.points} markers need more bytes")
    if wanted > TAKE_BYTES.any_file:
        raise FileError(path, f"holds {wanted} bytes of frames; at most {TAKE_BYTES.any_file} are read")
    handle.seek(layout.start)
    data = handle.read(wanted)
    values = numbers.floats(data) if layout.scale <= 0 else numbers.words(data).view(np.int16).astype(np.float64)
    # The file may have shrunk since its size was asked for.
    if len(values) * layout.width < wanted:
        raise FileError(path, "is cut short")
    rows = values.reshape(layout.frames, -1)[:, : 4 * layout.points].reshape(layout.frames, layout.points, 4)
    positions = rows[..., :3] * (layout.scale if layout.scale > 0 else 1.0)
    seen = (rows[..., 3] >= 0) & np.isfinite(positions).all(axis=2)
    return positions, seen


def _labels(parameters: dict[str, list[Any]], count: int) -> list[str]:
    """Return the label of each marker, "" where there is none; more than 255 go on in further parameters."""
    labels: list[str] = []
    for number in ["", *map(str, range(2, 258))]:
        values = parameters.get(f"POINT:LABELS{number}")
        if values is None:
            break
        labels += [label for label in values if isinstance(label, str)]
    return (labels + [""] * count)[:count]
