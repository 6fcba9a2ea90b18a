"""Rows of numbers between tabs, in which a cell may be blank: how TSV and TRC hold the frames of markers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posespace.budget import MARKERS
from posespace.check import Floats
from posespace.errors import FileError
from posespace.formats import text_numbers
from posespace.formats.contents import unique


def frames_of(path: Path, rows: bytes, markers: int, before: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the positions (F, M, 3) of rows of numbers and whether each is seen (F, M).

    A marker is missing where one of its cells is blank or says NaN, or where all three are zero.

    Parameters
    ----------
    path : the file, for messages
    rows : text of lines; empty ones are skipped
    markers : how many there are
    before : how many numbers each row has in front, such as its number and its time
    """
    width, blocks = before + 3 * markers, []
    room = len(rows) + width
    for block in text_numbers.blocks(rows):
        lines = [line for line in block.split(b"\n") if line.strip()]
        # A cell takes a byte, if only for its tab: rows much shorter than that are not of so many markers.
        room -= width * len(lines)
        if room < 0:
            raise FileError(path, f"says it has {markers} markers, more than its rows have numbers")
        text = b"\n".join(_level(path, line, width) for line in lines)
        values = text_numbers.parse(text, width * len(lines), np.float64)
        if values is None:
            bad = text_numbers.first_bad(text)
            raise FileError(path, f"expected {width} numbers between tabs in each row, got {bad or 'others'!r}")
        blocks.append(values)
    cells = np.concatenate(blocks) if blocks else np.zeros(0)
    if not len(cells):
        raise FileError(path, "holds no frames")
    positions = cells.reshape(-1, width)[:, before:].reshape(-1, markers, 3)
    if np.isinf(positions).any():
        frame = int(np.isinf(positions).any(axis=(1, 2)).argmax())
        raise FileError(path, f"frame {frame} holds a value that is not finite")
    return positions, ~np.isnan(positions).any(axis=2) & (positions != 0).any(axis=2)


def _level(path: Path, line: bytes, width: int) -> bytes:
    """Return a row with all its cells, blank ones as NaN; the last tabs may be missing, or be too many."""
    cells = line.split(b"\t")
    if any(cell.strip() for cell in cells[width:]):
        raise FileError(
            path, f"expected {width} numbers in each row, got {len(cells)} in {line[:30].decode('latin-1')!r}"
        )
    cells = cells[:width] + [b""] * (width - len(cells))
    return b" ".join(cell if cell.strip() else b"nan" for cell in cells)


def marker_names(path: Path, cells: list[str], count: float) -> tuple[tuple[str, ...], list[str]]:
    """Return a distinct name for each marker, and notes of those renamed; raise if they are not `count`."""
    if len(cells) != count:
        raise FileError(path, f"says it has {count:g} markers and names {len(cells)}")
    if not 0 < count <= MARKERS.any_file:
        raise FileError(path, f"expected from 1 to {MARKERS.any_file} markers, got {count:g}")
    labels = [cell.strip() for cell in cells]
    names = tuple(unique(labels, "marker"))
    return names, renamed_notes(names, labels)


def renamed_notes(names: tuple[str, ...], labels: list[str]) -> list[str]:
    """Return a note about markers whose names are not those of the file."""
    renamed = sum(name != label for name, label in zip(names, labels, strict=True))
    return [f"{renamed} markers named or renamed, because names are missing or repeated"] if renamed else []


def number(path: Path, what: str, word: str) -> float:
    """Return a number of the head of a file."""
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not abs(value) < 1e15:
        raise FileError(path, f"expected a number for {what}, got {word[:40]!r}")
    return value
