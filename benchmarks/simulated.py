"""How the poses of simulations fared, from their logs; how far plain skinning is off; whether skin enters skin.

Run: uv run python benchmarks/simulated.py hand.examples.log more.examples.log arm.examples.log [--json]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from contact import overlapping

from posespace import datasets
from posespace.check import Floats
from posespace.examples import Examples
from posespace.simulation.bodies.hand_grasps import named
from posespace.simulation.solver.contact import Contact, SkinContact

GROUPS = {
    "random": "all joints at random",
    "pair": "two joints",
    "train": "random grasps to fit on",
    "grasp": "unseen random grasps",
    **dict.fromkeys(named().names, "named grasps"),
    "frame": "frames of the arm's clip",
}
OTHERS = "one joint"
NEAR = 10.0  # Degrees, all joints together, within which two frames should look alike.


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path, nargs="+", help="logs that posespace simulate wrote")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    # A pose that was solved again after it failed counts once.
    lines = [json.loads(line) for log in options.logs for line in log.read_text().splitlines()]
    poses = list({pose["name"]: pose for pose in lines}.values())
    rows = [
        _row(title, _group(poses, title)) for title in dict.fromkeys((OTHERS, *GROUPS.values())) if _group(poses, title)
    ]
    failed = {pose["name"]: pose["reason"] for pose in poses if not pose["converged"]}
    clip = datasets.arm_clip()
    single, random = datasets.hand()
    hands = {"one joint": single.joined(datasets.hand_between()), "all joints at random": random}
    hands |= {"two joints, grasps to fit on": datasets.hand_together(), "unseen grasps": datasets.hand_grasps()}
    found = {
        "poses": rows,
        "failed": failed,
        "plain skinning, mm": {name: _skinning(each) for name, each in (hands | {"arm, clip": clip}).items()},
        "skin in skin": {name: _overlap(each) for name, each in hands.items()},
        "clip": _smoothness(clip),
    }
    if options.json:
        print(json.dumps(found))
        return
    print(f"| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}")
    for row in rows:
        print(f"| {' | '.join(row.values())} |")
    for title in ("failed", "plain skinning, mm", "skin in skin", "clip"):
        for name, value in found[title].items():  # type: ignore[attr-defined]
            print(f"{title}: {name}: {value}")


def _group(poses: list[dict[str, Any]], title: str) -> list[dict[str, Any]]:
    return [pose for pose in poses if _title(pose["name"]) == title]


def _title(name: str) -> str:
    return GROUPS.get(name, GROUPS.get(name.split(maxsplit=1)[0], OTHERS))


def _row(title: str, group: list[dict[str, Any]]) -> dict[str, str]:
    good = [pose for pose in group if pose["converged"]]
    seconds, newton = ([pose[key] for pose in good] or [0] for key in ("seconds", "newton"))
    volume = max((abs(pose["volume_change"]) for pose in good), default=0.0)
    return {
        "poses": title,
        "solved": f"{len(good)} of {len(group)}",
        "seconds, median (most)": f"{np.median(seconds):.1f} ({max(seconds):.0f})",
        "Newton steps, median (most)": f"{np.median(newton):.0f} ({max(newton)})",
        "volume change, most": f"{100 * volume:.2f} %",
        "least det F": f"{min((pose['least_jacobian'] for pose in good), default=0.0):.3f}",
    }


def _skinning(examples: Examples) -> dict[str, float]:
    gaps = np.stack([np.linalg.norm(examples.rig.skin(pose) - shape, axis=1) for pose, shape in examples])
    return {"on average": round(float(gaps.mean()), 2), "at most": round(float(gaps.max()), 1)}


def _overlap(examples: Examples) -> dict[str, int]:
    """In how many poses triangles cross, of the truth and of plain skinning, and how many vertices are inside skin."""
    rig, touch = examples.rig, SkinContact.of(examples.rig.mesh, Contact())
    return {
        "poses": len(examples),
        "cross": sum(touch.intersects(shape) for shape in examples.shapes),
        "vertices inside": sum(overlapping(rig, np.asarray(shape)) for shape in examples.shapes),
        "plain skinning crosses": sum(touch.intersects(rig.skin(pose)) for pose in examples.motion),
    }


def _smoothness(clip: Examples) -> dict[str, float]:
    """How fast the correction of skinning changes with the pose: in time, and among frames with like poses.

    Were the shapes to depend on more than the pose, the second would be the larger by far.
    """
    corrections = np.stack([clip.residual(k)[0] for k in range(len(clip))])
    turns = _degrees(clip)
    first, second = np.nonzero(np.triu(turns < NEAR, 1))
    later = np.arange(1, len(clip))
    rates = [
        float((_largest(corrections[a] - corrections[b]) / turns[a, b]).max())
        for a, b in ((later - 1, later), (first, second))
    ]
    return {
        "pairs of like frames": len(first),
        "mm a degree from frame to frame, most": round(rates[0], 2),
        "mm a degree among like frames, most": round(rates[1], 2),
    }


def _largest(gaps: Floats) -> Floats:
    found: Floats = np.linalg.norm(gaps, axis=2).max(axis=1)
    return found


def _degrees(clip: Examples) -> Floats:
    """Return (P, P) by how many degrees the joints of two poses differ, all together."""
    turn = clip.motion.rotations
    angles = 2 * np.arccos(np.abs((turn[:, None] * turn[None]).sum(axis=3)).clip(0, 1))
    found: Floats = np.degrees(np.sqrt((angles**2).sum(axis=2)))
    return found


if __name__ == "__main__":
    main()
