"""Files of markers, written as small as they can be: C3D of every processor, TSV and TRC."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from posespace.markers.markers import Markers

PROCESSORS = {"intel": 84, "dec": 85, "mips": 86}


def take(frames: int = 12, rate: float = 100.0, seed: int = 0) -> Markers:
    """Four markers that drift apart, two of them with a gap."""
    rng = np.random.default_rng(seed)
    start = np.array([[0.0, 0.0, 5.0], [40.0, 0.0, 5.0], [0.0, 30.0, 5.0], [10.0, 10.0, 25.0]])
    drift = np.cumsum(rng.normal(0, 0.5, (frames, 4, 3)), axis=0)
    positions = (start + drift).astype(np.float32).astype(np.float64)
    seen = np.ones((frames, 4), dtype=bool)
    seen[frames // 3 : frames // 2, 3] = False
    seen[-2:, 1] = False
    return Markers(("back left", "back right", "wrist", "tip"), positions, seen, rate)


def c3d(
    path: Path,
    markers: Markers,
    processor: str = "intel",
    scale: float = -0.1,
    analogue: int = 0,
    labels: list[str] | None = None,
    first: int = 1,
    unit: str = "mm",
) -> Path:
    """Write a C3D; a `scale` above zero makes whole numbers of the positions."""
    order = ">" if processor == "mips" else "<"

    def floats(*values: float) -> bytes:
        plain = np.array(values, dtype=f"{order}f4")
        if processor != "dec":
            return plain.tobytes()
        return (plain * 4).astype("<f4").view("<u2").reshape(-1, 2)[:, ::-1].tobytes()

    def words(*values: int) -> bytes:
        return struct.pack(f"{order}{len(values)}H", *(value % 65536 for value in values))

    def entry(group: int, name: str, body: bytes) -> bytes:
        return struct.pack("bb", len(name), group) + name.encode() + words(len(body) + 2) + body

    def texts(values: list[str]) -> bytes:
        length = max(map(len, values))
        return (
            struct.pack("bBBB", -1, 2, length, len(values)) + "".join(v.ljust(length) for v in values).encode() + b"\0"
        )

    count, points = len(markers), len(markers.names)
    last = first + count - 1
    parameters = [
        entry(-1, "POINT", b"\0"),
        entry(1, "LABELS", texts(labels or list(markers.names))),
        entry(1, "UNITS", struct.pack("bBB", -1, 1, len(unit)) + unit.encode() + b"\0"),
        entry(1, "RATE", b"\x04\0" + floats(markers.rate) + b"\0"),
        entry(-2, "TRIAL", b"\0"),
        entry(2, "ACTUAL_START_FIELD", b"\x02\x01\x02" + words(first % 65536, first // 65536) + b"\0"),
        entry(2, "ACTUAL_END_FIELD", b"\x02\x01\x02" + words(last % 65536, last // 65536) + b"\0"),
    ]
    body = bytes([1, 80, 0, PROCESSORS[processor]]) + b"".join(parameters) + b"\0\0"
    blocks = -(-len(body) // 512)
    body = (body[:2] + bytes([blocks]) + body[3:]).ljust(512 * blocks, b"\0")
    header = (
        bytes([2, 80])
        + words(points, analogue, first, last, 0)
        + floats(scale)
        + words(2 + blocks, 1 if analogue else 0)
    )
    header = (header + floats(markers.rate)).ljust(512, b"\0")
    fourth = np.where(markers.seen, 0.0, -1.0)[..., None]
    rows = np.concatenate([markers.positions / (scale if scale > 0 else 1), fourth], axis=2).reshape(count, -1)
    rows = np.concatenate([rows, np.full((count, analogue), 7.0)], axis=1).ravel()
    data = floats(*rows) if scale <= 0 else words(*(round(value) for value in rows.tolist()))
    path.write_bytes(header + body + data)
    return path


def _cells(markers: Markers, frame: int) -> list[str]:
    rows = zip(markers.positions[frame], markers.seen[frame], strict=True)
    return [f"{value:.9g}" if seen else "" for place, seen in rows for value in place]


def tsv(path: Path, markers: Markers, zeros: bool = False, columns: bool = True) -> Path:
    """Write a TSV as Qualisys does; a missing marker is blank, or zeros."""
    lines = [
        f"NO_OF_FRAMES\t{len(markers)}",
        f"NO_OF_MARKERS\t{len(markers.names)}",
        f"FREQUENCY\t{markers.rate:g}",
        "DESCRIPTION\t--",
        "\t".join(["MARKER_NAMES", *markers.names]),
    ]
    if columns:
        lines.append(
            "\t".join(["Frame", "Time", *(f"{name} {axis}" for name in markers.names for axis in "XYZ")]) + "\t"
        )
    for frame in range(len(markers)):
        cells = [cell or "0.000" for cell in _cells(markers, frame)] if zeros else _cells(markers, frame)
        lines.append("\t".join([*([str(frame + 1), f"{frame / markers.rate:.5f}"] if columns else []), *cells]))
    path.write_text("\n".join(lines) + "\n")
    return path


def trc(path: Path, markers: Markers, unit: str = "mm") -> Path:
    """Write a TRC as OpenSim does."""
    count = len(markers.names)
    words = [
        "DataRate",
        "CameraRate",
        "NumFrames",
        "NumMarkers",
        "Units",
        "OrigDataRate",
        "OrigDataStartFrame",
        "OrigNumFrames",
    ]
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "\t".join(words),
        f"{markers.rate:g}\t{markers.rate:g}\t{len(markers)}\t{count}\t{unit}\t{markers.rate:g}\t1\t{len(markers)}",
        "\t".join(["Frame#", "Time", *(cell for name in markers.names for cell in (name, "", ""))]),
        "\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(count) for axis in "XYZ"),
        "",
    ]
    for frame in range(len(markers)):
        lines.append("\t".join([str(frame + 1), f"{frame / markers.rate:.5f}", *_cells(markers, frame)]))
    path.write_text("\n".join(lines) + "\n")
    return path
