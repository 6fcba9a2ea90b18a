"""The picture of virtual bones; `pictures.py` runs it."""

from __future__ import annotations

import colorsys
from pathlib import Path

import numpy as np

import posespace as ps
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

IMG = Path(__file__).with_name("img")
TOP = 2.0
"""Millimetres at the end of the scale."""


def bones() -> None:
    """Bones found on 25 shapes of the hand, each in a colour of its own, and the errors of a shape."""
    _, given = ps.datasets.hand()
    triangles = given.rig.mesh.triangles
    towards = (0.15, 0.1, 1.0)
    above, below, titles = [], [], []
    for count in (20, 60, 300):
        made = ps.bones(given, count)
        # Steps of the golden ratio keep neighbouring numbers apart on the colour wheel.
        wheel = [colorsys.hsv_to_rgb(k * 0.618 % 1, 0.45 + 0.3 * (k % 3) / 2, 0.95) for k in range(count)]
        coloured = made.rig.dense_weights() @ np.array(wheel)
        rest = made.rig.mesh.points
        above.append(render(rest, triangles, Camera.fit(rest, towards), (330, 380), colors=coloured))
        shape, truth = made.rig.skin(made.motion[7]), np.asarray(made.shapes[7])
        error = np.linalg.norm(shape - truth, axis=1)
        below.append(render(shape, triangles, Camera.fit(truth, towards), (330, 380), colors=heat(error, TOP)))
        titles.append(f"{count} bones")
    save_png(IMG / "bones.png", montage([above, below], titles=titles, scale=("distance from the shape, mm", TOP)))
