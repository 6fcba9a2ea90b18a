"""The sculpts of an example store, as plain figures: the same for people and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.fit.psd.sculpts import Sculpts
from posespace.motion import Motion
from posespace.poses.active import active_in_poses, active_names


def describe_sculpts(sculpts: Sculpts) -> list[dict[str, Any]]:
    """Return one row per sculpt: what its pose moves, its largest correction, its radius, and whether it is muted.

    The largest correction is the greatest distance from plain skinning, as a fraction of the box's diagonal.
    """
    rig, by_name = sculpts.rig, sculpts.sculpts
    motion = Motion.from_poses([sculpt.pose for sculpt in by_name.values()], sculpts.names)
    size = max(rig.mesh.diagonal, 1e-300)
    return [
        {
            "sculpt": name,
            "moves": list(active_names(movers, rig.skeleton)),
            "largest_correction": _largest(sculpt.shape - rig.skin(sculpt.pose)) / size,
            "radius": sculpt.radius,
            "muted": sculpt.muted,
        }
        for (name, sculpt), movers in zip(by_name.items(), active_in_poses(rig, motion), strict=True)
    ]


def _largest(vectors: Floats) -> float:
    return float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
