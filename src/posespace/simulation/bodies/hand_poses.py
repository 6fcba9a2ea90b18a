"""All poses of the hand's data set.

`posespace simulate hand` makes the ranges and the random poses by itself;
`python -m posespace.simulation.bodies.hand_poses more.json` writes the others, for `posespace simulate hand --poses`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from posespace.formats import pose_json
from posespace.motion import Motion
from posespace.simulation.bodies.hand_bones import FINGERS, segments, skeleton
from posespace.simulation.bodies.hand_clearance import bones_clear
from posespace.simulation.bodies.hand_grasps import grasps, named
from posespace.simulation.poses import AXES, joint_ranges, random_poses, single_draws
from posespace.simulation.settings import Settings

_TO_FIT, _UNSEEN, _SINGLE = 7, 8, 9
"""Seeds: of the grasps to fit on, of the unseen ones, and of the single angles."""

_MADE_BY_COMMAND = ("ranges", "random")

# Two degrees of freedom, and the fraction of the range from rest: 1 is the upper limit, -1 the lower.
_Angle = tuple[str, int, float]
_PAIRS: tuple[tuple[_Angle, _Angle], ...] = (
    *(
        pair
        for name in FINGERS
        for pair in (
            ((f"{name}_mcp", 0, 1.0), (f"{name}_pip", 0, 1.0)),
            ((f"{name}_mcp", 0, 1.0), (f"{name}_pip", 0, 0.5)),
            ((f"{name}_pip", 0, 1.0), (f"{name}_dip", 0, 1.0)),
            ((f"{name}_pip", 0, 1.0), (f"{name}_dip", 0, 0.5)),
            ((f"{name}_mcp", 0, 0.5), (f"{name}_mcp", 1, 1.0)),
            ((f"{name}_mcp", 0, 0.5), (f"{name}_mcp", 1, -1.0)),
        )
    ),
    (("index_mcp", 0, 1.0), ("middle_mcp", 0, 1.0)),
    (("middle_mcp", 0, 1.0), ("ring_mcp", 0, 1.0)),
    (("ring_mcp", 0, 1.0), ("little_mcp", 0, 1.0)),
    (("wrist", 0, 1.0), ("wrist", 1, -1.0)),
    (("wrist", 0, -1.0), ("wrist", 1, 1.0)),
    (("thumb_cmc", 0, 1.0), ("thumb_cmc", 1, 1.0)),
    (("thumb_cmc", 0, 1.0), ("thumb_mcp", 0, 1.0)),
    (("thumb_mcp", 0, 1.0), ("thumb_ip", 0, 1.0)),
)

SPANNING = (
    "rest",
    "pair index_mcp.x +82 index_pip.x +86",
    "pair middle_mcp.x +80 middle_pip.x +86",
    "pair ring_mcp.x +78 ring_pip.x +84",
    "pair little_mcp.x +76 little_pip.x +82",
    "pair thumb_mcp.x +50 thumb_ip.x +80",
    "pair thumb_cmc.x +35 thumb_cmc.y +22",
    "wrist.x +64",
    "pair wrist.x -70 wrist.y +20",
    "jar lid",
    "ball",
    "suitcase",
    "fist",
    "pinch",
)
"""Poses that span the hand: fingers, thumb and wrist each alone, a spread, half fists, a fist and a pinch."""


def pairs() -> Motion:
    """Return 32 poses to fit on that change two neighbouring degrees of freedom at once, to half or all of their range.

    For each finger MCP with PIP flexion, PIP with DIP, and MCP flexion with deviation to either side; the MCP flexion
    of neighbours; flexion and deviation of the wrist and of the thumb's CMC, and two neighbouring joints of the thumb.
    """
    bones = skeleton(segments())
    assert bones.limits is not None
    angles, names = np.zeros((len(_PAIRS), len(bones), 3)), []
    for pose, pair in zip(angles, _PAIRS, strict=True):
        words = ["pair"]
        for name, axis, share in pair:
            joint = bones.index(name)
            pose[joint, axis] = abs(share) * bones.limits[joint, axis, int(share > 0)]
            words.append(f"{name}.{AXES[axis]} {np.degrees(pose[joint, axis]):+.0f}")
        names.append(" ".join(words))
    return Motion(bones.rotations(angles), names=tuple(names))


def all_poses() -> dict[str, Motion]:
    """Return the poses of the data set by their kind.

    To fit on: the "ranges", "pairs" and "train grasps". Unseen: single angles "between", "random" poses, "grasps"
    and the "named" ones.
    """
    bones, settings = skeleton(segments()), Settings()
    return {
        "ranges": joint_ranges(bones, settings.step),
        "random": random_poses(bones, settings.random, settings.seed, accept=bones_clear),
        "pairs": pairs(),
        "train grasps": grasps(40, _TO_FIT, "train grasp"),
        "between": single_draws(bones, _SINGLE, settings.step),
        "grasps": grasps(25, _UNSEEN),
        "named": named(),
    }


def further_poses() -> Motion:
    """Return the poses that `posespace simulate hand` does not make by itself."""
    kinds = [motion for kind, motion in all_poses().items() if kind not in _MADE_BY_COMMAND]
    names = tuple(name for motion in kinds for name in motion.names)
    return Motion(np.concatenate([motion.rotations for motion in kinds]), names=names)


if __name__ == "__main__":
    pose_json.write(Path(sys.argv[1]), further_poses(), skeleton(segments()))
