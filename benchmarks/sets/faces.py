"""A face whose controls are its expressions: fitted at full strength, unseen at half.

The data has an expression at full strength only. What half of it looks like is made, as in `face`: each expression
turns about the axis of the part that it moves most, so that its vertices run along arcs and not straight lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from face import EXPRESSIONS, jaw_arc

import posespace as ps
from sets.data_set import DataSet, Offer

NAME = "faces at half strength"


def offers(data: Path) -> Iterator[Offer]:
    """The data set, where the folder `data` has the face."""
    file = data / "face-ict-facekit" / "ict_face_head.npz"
    if file.is_file():
        yield NAME, partial(half_strength, file)


def half_strength(file: Path) -> DataSet:
    """The rest pose and each expression alone at full strength to fit on, each alone at half strength unseen."""
    stored = np.load(file)
    rig = ps.Rig.from_mesh(ps.Mesh(stored["neutral"], stored["tris"]))
    points = rig.mesh.points.astype(np.float64)
    deltas = dict(zip(map(str, stored["names"]), stored["deltas"].astype(np.float64), strict=True))
    arcs = {name: jaw_arc(points, deltas[name])[0] for name in list(deltas)[:EXPRESSIONS] if deltas[name].any()}

    def at(strength: float) -> ps.Examples:
        poses = [ps.Pose(rig.rest.rotations, controls=dict.fromkeys(arcs, 0.0) | {name: strength}) for name in arcs]
        motion = ps.Motion.from_poses(poses, [f"{name} {strength:g}" for name in arcs])
        return ps.Examples.from_shapes(rig, motion, [points + arc(strength) for arc in arcs.values()])

    still = ps.Motion.from_poses([ps.Pose(rig.rest.rotations, controls=dict.fromkeys(arcs, 0.0))], ["rest"])
    train = ps.Examples.from_shapes(rig, still, points[None]).joined(at(1.0))
    split = f"{len(arcs)} controls: each at full strength to fit on, each at half strength along a made arc unseen"
    return DataSet(NAME, train, at(0.5), split)
