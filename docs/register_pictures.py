"""Pictures of registration; `pictures.py` runs them. That of transfer is made by `benchmarks/transfer.py --picture`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import posespace as ps
from posespace.datasets import Scanner, scanned_hand
from posespace.formats.landmarks import read_landmarks
from posespace.geometry.surface import Surface
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

IMG = Path(__file__).with_name("img")
ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("POSESPACE_DATA", ROOT.parent / "shared" / "data"))
SIZE = (300, 330)
TOP, WORST = 0.5, 2.0
"""Percent of the diagonal at which the colours are darkest: for distances from the scan, and from the truth."""


def registered() -> None:
    """Three scans with known truth: the scan, the template by 30 landmarks, its distance and its error."""
    hand = scanned_hand(1, "spanning", 12_000)
    few = dict(list(hand.landmarks.items())[:30])
    registrar = ps.Registrar(hand.mesh, few)
    rows = []
    for index in (1, 9, 12):
        scan = Scanner().scan(hand, index, 1)
        marks = {name: tuple(scan.landmarks[name]) for name in few if name in scan.landmarks}
        found = registrar.register(scan.mesh, marks)
        placed = found.alignment.moved(np.asarray(scan.mesh.points))
        truth = found.alignment.moved(hand.shape(index) @ scan.motion[:3, :3].T + scan.motion[:3, 3])
        away = np.linalg.norm(Surface(placed, scan.mesh.triangles).closest(found.points).points - found.points, axis=1)
        error = np.linalg.norm(found.points - truth, axis=1)
        camera = Camera.fit(found.points, (0.3, 0.2, -1.0))
        cells = [render(placed, scan.mesh.triangles, camera, SIZE)]
        for values in (None, away, error):
            top = WORST if values is error else TOP
            colors = None if values is None else heat(100 * values / hand.mesh.diagonal, top)
            cells.append(render(found.points, hand.mesh.triangles, camera, SIZE, colors=colors))
        rows.append(cells)
    titles = [
        "scan",
        "template on it",
        "its distance from the scan",
        "from the truth, at a quarter of the scale",
    ]
    labels = ["index bent", "jar lid", "fist"]
    save_png(IMG / "register.png", montage(rows, labels, titles, ("percent of the diagonal", TOP)))


def real_hand() -> None:
    """A game's hand, and the same brought onto the hand of a scanned person."""
    mesh = ps.load_rig(DATA / "hand-godot-xr" / "hand_l.gltf").mesh
    scan = ps.load_mesh(DATA / "hand-target-odedstein" / "hand_closed.obj")
    marks = read_landmarks(ROOT / "benchmarks" / "sets" / "real_hand.landmarks.json")
    found = ps.Registrar(mesh, marks.template).register(scan, marks.scans["hand_closed.obj"])
    placed = found.alignment.moved(np.asarray(scan.points))
    shown = [(mesh.points, mesh.triangles), (found.points, mesh.triangles), (placed, scan.triangles)]
    views = [Camera.fit(placed, (side, 0.0, 0.0)) for side in (1.0, -1.0)]
    rows = [[render(points, triangles, view, (400, 300)) for points, triangles in shown] for view in views]
    titles = ["template: a game's hand, 1.3k vertices", "brought onto the scan", "scan: a person's hand, 8k vertices"]
    save_png(IMG / "real-hand.png", montage(rows, ["palm", "back"], titles))
