"""TSV: the markers of a take as Qualisys Track Manager exports them, in millimetres.

Lines of a word and its value, the names of the markers, then a row of numbers for each frame.
"""

from __future__ import annotations

from pathlib import Path

from posespace.errors import FileError
from posespace.formats import files, marker_rows
from posespace.formats.contents import Contents
from posespace.markers.markers import Markers
from posespace.mesh import UNITS

_MOST_HEAD = 1000
"""Lines that may stand before the frames: events have one each."""


def read(path: Path) -> Contents:
    """Read the markers; blank cells, and positions of three zeros, are frames in which a marker was not seen."""
    data = files.read_lines(path)
    head, before, start = _head(path, data)
    for word in ("NO_OF_MARKERS", "FREQUENCY", "MARKER_NAMES"):
        if word not in head:
            raise FileError(
                path, f"is not a TSV file of markers: it has no line {word}; export 3D data with its header"
            )
    count = marker_rows.number(path, "NO_OF_MARKERS", "".join(head["NO_OF_MARKERS"][:1]))
    rate = marker_rows.number(path, "FREQUENCY", "".join(head["FREQUENCY"][:1]))
    cells = head["MARKER_NAMES"]
    while len(cells) > count and not cells[-1].strip():
        cells = cells[:-1]
    names, notes = marker_rows.marker_names(path, cells, count)
    if before is None:
        before = _before(data[start : data.find(b"\n", start) % (len(data) + 1)], len(names))
    positions, seen = marker_rows.frames_of(path, data[start:], len(names), before)
    frames = "".join(head.get("NO_OF_FRAMES", [])[:1])
    if frames and frames != str(len(positions)):
        notes.append(f"says it has {frames[:20]} frames and holds {len(positions)}")
    with files.naming(path):
        markers = Markers(names, positions, seen, rate, UNITS["mm"])
    return Contents(path, "TSV", markers=markers, notes=tuple(notes))


def _head(path: Path, data: bytes) -> tuple[dict[str, list[str]], int | None, int]:
    """Return the values by word, how many columns stand before the markers (None: not said), and where frames start."""
    head: dict[str, list[str]] = {}
    at = 0
    for _ in range(_MOST_HEAD):
        end = data.find(b"\n", at) % (len(data) + 1)
        line = data[at:end].decode("utf-8", errors="replace")
        word, *cells = line.split("\t")
        word = word.strip()
        if word.lower() in ("frame", "time"):
            lower = [cell.strip().lower() for cell in (word, *cells[:1])]
            return head, sum(cell in ("frame", "time") for cell in lower), end + 1
        if not word or not (word[0].isalpha() or word[0] == "_"):
            break
        if "MARKER_NAMES" in head and word.endswith(" X"):
            return head, 0, end + 1
        head.setdefault(word.upper(), cells)
        at = end + 1
        if at >= len(data):
            break
    if "MARKER_NAMES" in head and at >= len(data):
        raise FileError(path, "holds no frames")
    return head, None, at


def _before(row: bytes, markers: int) -> int:
    """Return how many numbers stand before the markers in a row: none, its number, or its number and its time."""
    cells = row.split(b"\t")
    over = len(cells) - 3 * markers
    return min(2, max(0, over - (over % 2 == 1 and not cells[-1].strip())))
