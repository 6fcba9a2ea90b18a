"""The sculpts of an example store, as plain figures: the same for people and for JSON."""

from __future__ import annotations

from typing import Any

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
            "largest_correction": sculpts.largest_correction(name) / size,
            "radius": sculpt.radius,
            "muted": sculpt.muted,
        }
        for (name, sculpt), movers in zip(by_name.items(), active_in_poses(rig, motion), strict=True)
    ]
