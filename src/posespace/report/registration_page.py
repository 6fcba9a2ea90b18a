"""The page about registered scans: a table, and for each scan pictures of it and of the template fitted to it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.load import load_mesh
from posespace.formats.store.example_store import ExampleStore
from posespace.geometry.surface import Surface
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.page import pictures, scale_bar, table, write_page
from posespace.report.views import picture

if TYPE_CHECKING:
    from posespace.register.run import Row

_SIZE = (420, 360)
_TOP = 0.005
"""The distance, as a fraction of the diagonal, from which the colours are at their darkest."""

_HEADS = ("scan", "mean", "95 % within", "largest", "covered", "landmarks", "scale")


def write_registered(path: Path, store: Path, rows: Sequence[Row]) -> None:
    """Write the page about the scans of a store."""
    examples = ExampleStore.open(store)
    mesh = examples.rig.mesh
    note = f"{len(mesh.points):,} vertices on each of {int(examples.finished().sum())} scans."
    parts = [
        "<h1>Registered scans</h1>",
        f'<p class="soft">{escape(note)}</p>',
        table(_HEADS, [_cells(row) for row in rows]),
        '<p class="soft">Distances are from the template to the scan, as shares of the template\'s diagonal.</p>',
        scale_bar([_hex(share) for share in np.linspace(0, 1, 9)], "of the diagonal from the scan", f"{_TOP:.1%}"),
    ]
    names = list(examples.motion.names)
    done = examples.finished()
    for row in rows:
        index = names.index(row.name)
        if not row.reason and done[index]:
            parts += [f"<h2>{escape(row.name)}</h2>", *_shown(row, examples.shape(index), examples)]
    write_page(path, "posespace: registered scans", parts)


def _cells(row: Row) -> list[str]:
    if row.reason or not row.figures:
        return [row.name, row.reason or "registered before; its figures are lost"]
    figures = row.figures
    shares = [f"{figures[key]:.3%}" for key in ("mean_distance", "p95_distance", "largest")]
    return [row.name, *shares, f"{figures['covered']:.1%}", str(figures["landmarks"]), f"{figures['scale']:g}"]


def _shown(row: Row, points: Floats, store: ExampleStore) -> list[str]:
    """Pictures of the scan and of the template on it, from two sides, and the notes."""
    mesh = store.rig.mesh
    shape = np.asarray(points, dtype=np.float64)
    images: list[tuple[NDArray[Any], str]] = []
    try:
        scan = load_mesh(row.file)
        aligned = row.figures["scale"] * scan.points @ np.array(row.figures["rotation"]).T + row.figures["translation"]
        gaps = np.linalg.norm(Surface(aligned, scan.triangles).closest(shape).points - shape, axis=1)
    except (InputError, KeyError):  # The file is gone: only the template is shown.
        aligned, gaps = None, np.zeros(len(shape))
    colors = heat(gaps / mesh.diagonal, _TOP)
    for side, direction in (("front", (0.3, 0.3, 1.0)), ("back", (-0.3, 0.3, -1.0))):
        camera = Camera.fit(shape, direction)
        if aligned is not None:
            images.append((picture(aligned, scan.triangles, camera, _SIZE), f"scan, {side}"))
        images.append((picture(shape, mesh.triangles, camera, _SIZE, colors), f"template on it, {side}"))
    lines = [f'<p class="soft">{escape(line)}</p>' for line in row.notes]
    return [*lines, pictures(images, 260)]


def _hex(share: float) -> str:
    red, green, blue = (np.asarray(heat([share], 1.0))[0] * 255 + 0.5).astype(int).tolist()
    return f"#{red:02x}{green:02x}{blue:02x}"
