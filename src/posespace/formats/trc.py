"""TRC: the markers of a take as OpenSim and Motion Analysis write them.

Five lines of head, the third with the rate, the counts and the unit and the fourth with the names, then a row of
numbers for each frame.
"""

from __future__ import annotations

from pathlib import Path

from posespace.errors import FileError
from posespace.formats import files, marker_rows
from posespace.formats.contents import Contents
from posespace.markers.markers import Markers
from posespace.mesh import UNITS

_HEAD = 5
_WORDS = {"meters": "m", "metres": "m", "millimeters": "mm", "millimetres": "mm", "inches": "in", "feet": "ft"}


def read(path: Path) -> Contents:
    """Read the markers; blank cells are frames in which a marker was not seen."""
    data = files.read_lines(path)
    *lines, rows = [*data.split(b"\n", _HEAD), *[b""] * _HEAD][: _HEAD + 1]
    head = [line.decode("utf-8", errors="replace").split("\t") for line in lines]
    if head[0][0].strip() != "PathFileType":
        raise FileError(path, "is not a TRC file: it does not start with PathFileType")
    values = {word.strip(): value.strip() for word, value in zip(head[1], head[2], strict=False)}
    for word in ("DataRate", "NumMarkers", "Units"):
        if word not in values:
            raise FileError(path, f"its second and third line give no {word}; is it cut short?")
    count = marker_rows.number(path, "NumMarkers", values["NumMarkers"])
    rate = marker_rows.number(path, "DataRate", values["DataRate"])
    columns = head[3]
    while columns and not columns[-1].strip():
        columns = columns[:-1]
    # A name stands over the first of its three columns.
    names, notes = marker_rows.marker_names(path, columns[2::3], count)
    word = values["Units"].lower()
    unit = UNITS.get(_WORDS.get(word, word))
    if unit is None:
        raise FileError(path, f"expected Units of {', '.join(UNITS)}, got {values['Units'][:40]!r}")
    positions, seen = marker_rows.frames_of(path, rows, len(names), before=2)
    frames = values.get("NumFrames", "")
    if frames and frames != str(len(positions)):
        notes.append(f"says it has {frames[:20]} frames and holds {len(positions)}")
    with files.naming(path):
        markers = Markers(names, positions, seen, rate, unit)
    return Contents(path, "TRC", markers=markers, notes=tuple(notes))
