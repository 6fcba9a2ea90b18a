"""The whole simulation: a body or a rig file in, an example store out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posespace import load
from posespace.errors import InputError
from posespace.formats.examplefile import ExampleStore
from posespace.pose import Motion
from posespace.simulate.arm import arm
from posespace.simulate.batch import Job, cluster_of, run
from posespace.simulate.bones import Body
from posespace.simulate.hand import hand
from posespace.simulate.poses import PoseList, joined, joint_ranges, random_poses
from posespace.simulate.rigbones import bones_of_rig
from posespace.simulate.simulation import Tissue
from posespace.simulate.tetmesh import tetrahedralise

Report = Callable[[int, int, dict[str, Any]], None]


@dataclass(frozen=True)
class Plan:
    """What to simulate.

    Parameters
    ----------
    body : "hand", "arm" or the path of a rig
    poses : a file of poses; None: every joint's range, and random poses of all joints
    level : of the hand's surface, 0 to 2
    side : "right" or "left", of the hand
    elements : about how many tetrahedra
    step : degrees between the poses of a joint's range
    random : how many random poses
    seed : of the random poses
    tissue : what fills the body
    """

    body: str
    poses: Path | None = None
    level: int = 1
    side: str = "right"
    elements: int = 11_000
    step: float = 18.0
    random: int = 25
    seed: int = 2002
    tissue: Tissue = field(default_factory=Tissue)


def simulate(
    plan: Plan, out: Path, workers: int, scheduler: str | None, resume: bool, report: Report | None = None
) -> dict[str, Any]:
    """Run a plan on local processes or a cluster, write the store, and return what came of it."""
    body = body_of(plan)
    poses = poses_of(plan, body)
    notes = _beyond_limits(body, poses.motion)
    mesh = tetrahedralise(body.rig.mesh, body.bones, plan.elements, body.rig.skeleton.names)
    with cluster_of(workers, scheduler) as cluster:
        store = ExampleStore.create(out, body.rig, poses.motion, resume)
        log = out.with_name(out.name + ".log")

        def keep(done: int, count: int, figures: dict[str, Any]) -> None:
            with log.open("a") as handle:
                handle.write(json.dumps(figures) + "\n")
            if report is not None:
                report(done, count, figures)

        solved = run(Job(body.rig, mesh, plan.tissue), poses, store, cluster, keep)
    good = [figures for figures in solved if figures["converged"]]
    return {
        "file": str(out),
        "poses": len(store),
        "finished": int(store.finished().sum()),
        "failed": store.failures(),
        "tetrahedra": len(mesh.tets),
        "nodes": len(mesh.points),
        "seconds a pose": round(float(np.mean([entry["seconds"] for entry in good])), 2) if good else 0.0,
        "least jacobian": round(min((entry["least_jacobian"] for entry in good), default=0.0), 4),
        "largest volume change": round(max((abs(entry["volume_change"]) for entry in good), default=0.0), 5),
        "notes": [*mesh.notes, *notes],
    }


def body_of(plan: Plan) -> Body:
    """Return the built-in body, or the rig of the file with bones made for it."""
    if plan.body == "hand":
        return hand(plan.level, plan.side)
    if plan.body == "arm":
        return arm()
    rig = load.load_rig(plan.body)
    return Body(rig, bones_of_rig(rig))


def poses_of(plan: Plan, body: Body) -> PoseList:
    """Return the poses of the file, the rest pose first; or the joints' ranges and random poses."""
    skeleton = body.rig.skeleton
    if plan.poses is None:
        if skeleton.limits is None:
            raise InputError(f"{plan.body}: its joints have no limits to step through; give the poses by --poses FILE")
        ranges = joint_ranges(skeleton, plan.step)
        return joined(ranges, random_poses(skeleton, plan.random, plan.seed)) if plan.random else ranges
    given = load.load_motion(plan.poses, skeleton)
    if body.rig.at_rest(given).any():
        return PoseList.independent(given)
    poses, names = [body.rig.rest, *given], ["rest", *given.names]
    return PoseList.independent(Motion.from_poses(poses, names))


def _beyond_limits(body: Body, motion: Motion) -> list[str]:
    notes = []
    for pose, name in zip(motion, motion.names, strict=True):
        joints = body.rig.skeleton.beyond_limits(pose.rotations)
        if joints:
            notes.append(f"pose {name!r} turns {', '.join(joints[:4])} beyond the limits; simulated all the same")
    return notes
