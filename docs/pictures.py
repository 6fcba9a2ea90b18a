"""Renders the pictures of the documentation. Run: uv run python docs/pictures.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posespace.report.render import Camera, montage, render, save_png
from posespace.simulate.cutaway import cut_open
from posespace.simulate.hand import hand
from posespace.simulate.tetmesh import tetrahedralise

IMG = Path(__file__).with_name("img")


def views() -> None:
    """The hand from four sides."""
    mesh = hand(2).rig.mesh
    sides = {"back": (0, 0, 1), "palm": (0, 0, -1), "thumb side": (-1, 0.1, 0), "from above": (-0.5, -0.6, 0.8)}
    cells = [
        render(mesh.points, mesh.triangles, Camera.fit(mesh.points, direction), (380, 420))
        for direction in sides.values()
    ]
    save_png(IMG / "hand.png", montage([cells], titles=list(sides)))


def tets() -> None:
    """The tetrahedra cut open along the middle finger."""
    body = hand(1)
    mesh = tetrahedralise(body.rig.mesh, body.bones, 11_000, body.rig.skeleton.names)
    points, triangles, colors = cut_open(mesh, body.bones, (0.0, 0.0, 1.5), (0.0, 0.0, 1.0))
    flat = points[triangles].reshape(-1, 3)
    faces = np.arange(len(flat)).reshape(-1, 3)
    normal = np.cross(flat[1::3] - flat[0::3], flat[2::3] - flat[0::3])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    camera = Camera.fit(flat, (0.3, -0.4, 1.0))
    colored = colors[triangles].reshape(-1, 3)
    picture = render(flat, faces, camera, (900, 900), colors=colored, normals=np.repeat(normal, 3, axis=0))
    save_png(IMG / "tets.png", picture)


if __name__ == "__main__":
    views()
    tets()
