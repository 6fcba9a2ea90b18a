"""What sculpts an example store holds, as plain figures: the same for people and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from posespace.examples import Examples
from posespace.fit.psd.sculpts import Sculpts
from posespace.motion import Motion
from posespace.moving import moved, names_of


def describe_sculpts(sculpts: Sculpts) -> list[dict[str, Any]]:
    """Return one row per sculpt: what its pose moves, and the largest correction as a fraction of the box."""
    rig, known = sculpts.rig, sculpts.sculpts
    motion = Motion.from_poses([sculpt.pose for sculpt in known.values()], sculpts.names)
    examples = Examples.from_shapes(rig, motion, [sculpt.shape for sculpt in known.values()])
    size = max(rig.mesh.diagonal, 1e-300)
    return [
        {
            "sculpt": name,
            "moves": list(names_of(movers, rig.skeleton)),
            "largest correction": float(np.linalg.norm(examples.residual(index)[0], axis=1).max(initial=0.0)) / size,
            "radius": sculpt.radius,
            "muted": sculpt.muted,
        }
        for index, ((name, sculpt), movers) in enumerate(zip(known.items(), moved(rig, motion), strict=True))
    ]
