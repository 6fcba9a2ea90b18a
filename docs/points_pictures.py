"""Pictures of control points: a pose that was left out, by five kinds of models, and with two kinds of detail.

`pictures.py` runs them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import posespace as ps
from posespace.geometry import rotations
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

IMG = Path(__file__).with_name("img")
VERTICES, BONES = 4000, 100
PAPER = {"width": 1.0, "ridge": 0.05, "near_points": 7, "near_poses": 7, "bones": BONES}
KINDS = {
    "FKY08": {**PAPER, "local": "none"},
    "local in geometry": {**PAPER, "local": "geometry", "corrections": 0},
    "local in pose": {**PAPER, "local": "pose"},
    "both (the paper)": {**PAPER, "local": "both"},
    "defaults": {"bones": BONES},
}


def points() -> None:
    """A fist and a pinch that were left out: by models of every kind, errors as colours; then with detail."""
    hand = ps.datasets.scanned_hand(1, "spanning", VERTICES)
    rows, fine = [], []
    for name in ("fist", "pinch"):
        left = hand.names.index(name)
        kept = [k for k in range(len(hand)) if k != left]
        train = replace(hand.examples[kept], heights=hand.heights[kept], levels=1)
        truth = hand.shape(left)
        camera = Camera.fit(truth, (0.35, 0.25, -1.0), up=(0.0, 1.0, 0.0))
        virtual = ps.bones(replace(train, heights=None), BONES, rounds=1).rig
        cells = [render(truth, hand.mesh.triangles, camera, (260, 340))]
        for settings in KINDS.values():
            skin = ps.ControlPoints(**settings).fit(train, virtual)  # type: ignore[arg-type]
            shape = replace(skin, detail=None).pose(_held(skin, truth))[0]
            colours = heat(np.linalg.norm(shape - truth, axis=1), 15.0)
            cells.append(render(shape, hand.mesh.triangles, camera, (260, 340), colors=colours))
        rows.append(cells)
        fine.append(_relief(hand, skin, left))
    titles = ["truth", *KINDS]
    page = montage(rows, labels=["fist", "pinch"], titles=titles, scale=("distance from the truth, mm", 15.0))
    save_png(IMG / "points.png", page)
    titles = ["truth", "static map of the rest", "detail by the points"]
    save_png(IMG / "points-detail.png", montage(fine, labels=["fist", "pinch"], titles=titles))


def _relief(hand: ps.datasets.ScannedHand, skin: ps.Skin, left: int) -> list[np.ndarray]:
    """The truth, then the same bones with the heights of the rest and with those that the points drive."""
    truth = hand.fine_shape(left)
    pose = _held(skin, hand.shape(left))
    moving = skin.pose(pose)[0]
    coarse = replace(skin, detail=None).pose(pose)[0]
    flat = skin.mesh
    middle = hand.level.refine(coarse)
    static = middle + hand.heights[0][:, None] * flat.normals(middle)
    camera = Camera.fit(truth, (0.35, 0.25, -1.0), up=(0.0, 1.0, 0.0))
    return [render(shape, flat.triangles, camera, (420, 540)) for shape in (truth, static, moving)]


def _held(skin: ps.Skin, truth: np.ndarray) -> ps.Pose:
    """The pose of a skin's points in a shape."""
    shifts = np.zeros((len(skin.rig.skeleton), 3))
    shifts[1:] = truth[skin.bones.points] - skin.bones.rest
    return ps.Pose(np.tile(rotations.IDENTITY, (len(shifts), 1)), shifts)


if __name__ == "__main__":
    points()
