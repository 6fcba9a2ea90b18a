"""Pictures of the scans with known truth: all of one hand, and wrinkles close up for both."""

from __future__ import annotations

from pathlib import Path

from posespace.datasets import ScannedHand, Scanner, scanned_hand
from posespace.report.camera import Camera
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import Image, render

IMG = Path(__file__).with_name("img")
_CLOSE = (
    ("rest", "index_pip palm", (-0.45, -0.1, -1.0)),
    ("pair index_mcp.x +82 index_pip.x +86", "index_pip palm", (-1.0, -0.35, -0.35)),
    ("rest", "middle_pip back", (0.1, 0.0, 1.0)),
    ("fist", "middle_pip back", (0.1, 0.8, -0.3)),
    ("fist", "thumb_mcp palm", (-0.4, 0.1, -1.0)),
)
"""Pose, landmark in the middle of the picture, and from where."""


def scans() -> None:
    """All scans of the first hand, back in the hand's own frame, from both sides; then wrinkles of both hands."""
    # Coarser than the scans that the command writes: at the size of the cells it does not show.
    hand = scanned_hand(vertices=12_000)
    cells = [cell for index in range(len(hand)) for cell in _scan_cells(hand, index)]
    save_png(IMG / "scans.png", montage([cells[k : k + 7] for k in range(0, len(cells), 7)]))
    rows = [_close(scanned_hand(which)) for which in (1, 2)]
    save_png(IMG / "wrinkles.png", montage(rows, labels=["hand 1", "hand 2"]))


def _scan_cells(hand: ScannedHand, index: int) -> list[Image]:
    scan = Scanner().scan(hand, index)
    points = (scan.mesh.points - scan.motion[:3, 3]) @ scan.motion[:3, :3]
    views = [Camera.fit(points, direction) for direction in ((0.15, 0.15, 1.0), (0.15, 0.15, -1.0))]
    return [render(points, scan.mesh.triangles, view, (210, 230)) for view in views]


def _close(hand: ScannedHand) -> list[Image]:
    """Truth in a few poses, near a landmark, in the light that shows relief."""
    cells = []
    for name, mark, direction in _CLOSE:
        points = hand.fine_shape(hand.names.index(name))
        camera = Camera(direction, target=points[hand.landmarks[mark]], extent=17.0)
        cells.append(render(points, hand.level.triangles, camera, (300, 300)))
    return cells
