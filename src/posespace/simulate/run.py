"""The whole simulation: a body or a rig file in, an example store out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posespace import check
from posespace.errors import FileError, InputError
from posespace.formats import files, load
from posespace.formats.example_store import ExampleStore
from posespace.motion import Motion
from posespace.moving import at_rest
from posespace.progress import counter, status
from posespace.rig import Rig
from posespace.simulate.bodies.arm import arm
from posespace.simulate.bodies.body import Body
from posespace.simulate.bodies.capsules import CrowdedError
from posespace.simulate.bodies.hand import hand
from posespace.simulate.bodies.rig_bones import bones_of_rig
from posespace.simulate.cluster.batch import Job, run
from posespace.simulate.cluster.machines import Machines
from posespace.simulate.mesh.tetmesh import TetMesh, tetrahedralise
from posespace.simulate.poses import PoseList, joined, joint_ranges, random_poses
from posespace.simulate.solver.simulation import Tissue

BUILT_IN = ("hand", "arm")
_MOST_NOTES = 5
"""Poses beyond the limits that are named one by one."""


@dataclass(frozen=True)
class Plan:
    """What to simulate.

    Parameters
    ----------
    body : "hand", "arm" or the path of a rig
    poses : a file of poses; None: every joint's range, and random poses of all joints
    level : of the hand's surface, 0 to 2
    side : "right" or "left", of the hand
    elements : about how many tetrahedra, 200 to 5,000,000
    step : degrees between the poses of a joint's range, 0.1 to 360
    random : how many random poses, 0 to 100,000
    seed : of the random poses, 0 or more
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

    def __post_init__(self) -> None:
        check.choice("side", self.side, ("right", "left"))
        ranges = {"level": (0, 2), "elements": (200, 5_000_000), "step": (0.1, 360), "random": (0, 100_000)}
        for name, (low, high) in ranges.items():
            if not low <= getattr(self, name) <= high:
                raise InputError(f"{name}: expected {low} to {high}, got {getattr(self, name)}")
        if self.seed < 0:
            raise InputError(f"seed: expected 0 or more, got {self.seed}")

    @property
    def decisive(self) -> dict[str, str | float]:
        """What decides the shapes beside the rig and the poses, by name, for the store."""
        contact = self.tissue.contact
        return {
            "body": self.body if self.body in BUILT_IN else "from a file",
            "elements": self.elements,
            "order": self.tissue.order,
            "law": self.tissue.law,
            "poisson": self.tissue.poisson,
            "contact": "off" if contact is None else f"stiffness {contact.stiffness:g} apart {contact.apart:g}",
        }


def simulate(
    plan: Plan, out: Path, machines: Machines, resume: bool = False, warn: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Run a plan, write the store, and return what came of it.

    What can be refused is refused before the long work, and nothing is written before the first pose is on its way.
    `warn` is called with what is odd about the cluster, the poses or the store, before they are solved.
    """
    if out.exists() and not resume:
        raise FileError(out, "exists already; remove it, or go on with it by --resume")
    with ExitStack() as stack:
        client = stack.enter_context(machines.cluster(warn)) if machines.scheduler else None
        with status("making the body"):
            body, poses, notes = prepared(plan)
        odd = _beyond_limits(body.rig, poses.motion)
        # A store to go on with must be for these poses and settings: found out before the tetrahedra are made.
        store = ExampleStore.create(out, body.rig, poses.motion, resume, plan.decisive) if out.exists() else None
        if store is not None and not store.made:
            odd.append(f"{out} does not say how it was made: its settings could not be compared with these")
        for note in odd:
            (warn or (lambda _: None))(note)
        if store is not None and store.finished().all():
            return _figures(store) | {"notes": [*notes, *odd, "every pose was finished already"]}
        with status("making tetrahedra"):
            mesh = _filled(plan, body)
        client = client or stack.enter_context(machines.cluster())
        log = out.with_name(out.name + ".log")
        if store is None:
            store = ExampleStore.create(out, body.rig, poses.motion, made=plan.decisive)
            log.unlink(missing_ok=True)
        advance = stack.enter_context(counter("solving poses"))

        def keep(done: int, count: int, figures: dict[str, Any]) -> None:
            with log.open("a") as handle:
                handle.write(json.dumps(figures) + "\n")
            advance(done, count)

        solved = run(Job(body.rig, mesh, plan.tissue), poses, store, client, machines.retries, keep)
    return _figures(store) | _measured(mesh, solved) | {"notes": [*notes, *mesh.notes, *odd]}


def prepared(plan: Plan) -> tuple[Body, PoseList, list[str]]:
    """Return the body and its poses, and notes; what is wrong with files is found before bones are made."""
    if plan.body in BUILT_IN:
        body = hand(plan.level, plan.side) if plan.body == "hand" else arm()
        return body, poses_of(plan, body.rig), []
    path = Path(plan.body)
    if not path.exists() and not path.suffix:
        raise InputError(f"body {plan.body!r}: expected {', '.join(BUILT_IN)}, or the file of a rig")
    rig = load.load_rig(path)
    poses = poses_of(plan, rig)
    with files.naming(path):
        body = Body(rig, bones_of_rig(rig))
    used = np.unique(rig.influences[rig.weights > 0])
    bare = [rig.skeleton.names[joint] for joint in used if joint not in {bone.joint for bone in body.bones}]
    notes = (
        [f"no bone fits inside the skin for {_named(bare)}: the flesh there follows the bones around"] if bare else []
    )
    return body, poses, notes


def poses_of(plan: Plan, rig: Rig) -> PoseList:
    """Return the poses of the file, the rest pose first; or the joints' ranges and random poses."""
    skeleton = rig.skeleton
    if plan.poses is None:
        if skeleton.limits is None:
            raise InputError(f"{plan.body}: its joints have no limits to step through; give the poses by --poses FILE")
        ranges = joint_ranges(skeleton, plan.step)
        return joined(ranges, random_poses(skeleton, plan.random, plan.seed)) if plan.random else ranges
    given = load.load_motion(plan.poses, skeleton)
    if at_rest(rig, given).any():
        return PoseList.independent(given)
    poses, names = [rig.rest, *given], ["rest", *given.names]
    return PoseList.independent(Motion.from_poses(poses, names))


def _filled(plan: Plan, body: Body) -> TetMesh:
    with ExitStack() as stack:
        if plan.body not in BUILT_IN:
            stack.enter_context(files.naming(Path(plan.body)))
        try:
            return tetrahedralise(body.rig.mesh, body.bones, plan.elements, body.rig.skeleton.names)
        except CrowdedError as error:
            # The bones are ours: all that a user can change is the size of the elements.
            more = f"--elements {2 * plan.elements}, now {plan.elements}"
            raise InputError(f"ask for more elements ({more}): {error.problem}") from None


def _figures(store: ExampleStore) -> dict[str, Any]:
    return {
        "file": str(store.path),
        "poses": len(store),
        "finished": int(store.finished().sum()),
        "failed": store.failures(),
    }


def _measured(mesh: TetMesh, solved: list[dict[str, Any]]) -> dict[str, Any]:
    """What this run made and measured; the median time, so that compiling in the first pose does not count."""
    figures: dict[str, Any] = {"tetrahedra": len(mesh.tets), "nodes": len(mesh.points)}
    good = [entry for entry in solved if entry["converged"]]
    if good:
        figures |= {
            "seconds a pose": round(float(np.median([entry["seconds"] for entry in good])), 2),
            "least jacobian": round(min(entry["least_jacobian"] for entry in good), 4),
            "largest volume change": round(max(abs(entry["volume_change"]) for entry in good), 5),
        }
    return figures


def _beyond_limits(rig: Rig, motion: Motion) -> list[str]:
    notes = []
    for pose, name in zip(motion, motion.names, strict=True):
        joints = rig.skeleton.beyond_limits(pose.rotations)
        if joints:
            notes.append(f"pose {name!r} turns {_named(joints)} beyond the limits; simulated all the same")
    more = len(notes) - _MOST_NOTES
    return notes if more <= 1 else [*notes[:_MOST_NOTES], f"{more} more poses go beyond the limits; simulated too"]


def _named(joints: Sequence[str]) -> str:
    shown = ", ".join(joints[:4])
    return shown if len(joints) <= 4 else f"{shown} and {len(joints) - 4} more"
