"""The whole simulation: a body or a rig file in, an example store out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace.cluster.machines import Machines
from posespace.errors import FileError, InputError
from posespace.formats import files, load
from posespace.formats.store.example_store import ExampleStore
from posespace.motion import Motion
from posespace.poses.active import at_rest
from posespace.progress import counter, status
from posespace.rig import Rig
from posespace.simulation.batch import Job, run
from posespace.simulation.bodies.arm import arm
from posespace.simulation.bodies.body import Body
from posespace.simulation.bodies.capsules import CrowdedError
from posespace.simulation.bodies.hand import hand
from posespace.simulation.bodies.hand_clearance import bones_clear
from posespace.simulation.bodies.rig_bones import bones_of_rig
from posespace.simulation.bodies.slender_hand import slender_clear, slender_hand
from posespace.simulation.mesh.repair import cut_ends
from posespace.simulation.mesh.tetmesh import TetMesh, tetrahedralise
from posespace.simulation.poses import joint_ranges, random_poses
from posespace.simulation.settings import BUILT_IN, Settings
from posespace.simulation.solver.contact import SkinContact, TouchingError

_MOST_NOTES = 5
"""Poses beyond the limits that are named one by one."""


def simulate(
    settings: Settings,
    out: Path,
    machines: Machines,
    resume: bool = False,
    warn: Callable[[str], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Simulate, write the store, and return figures about it.

    Bad input is refused before the long work begins, and nothing is written before the first pose is under way.
    `warn` is called with anything odd about the cluster, the poses or the store, before the poses are solved; `note`
    with how a clip of poses was chosen and read.
    """
    if out.exists() and not resume:
        raise FileError(out, "exists already; remove it, or continue it with --resume")
    with ExitStack() as stack:
        client = stack.enter_context(machines.cluster(warn)) if machines.scheduler else None
        with status("making the body"):
            body, poses, notes = prepared(settings, note)
        odd = _beyond_limits(body.rig, poses)
        settings = _possible(settings, body, odd)
        # A store to resume must be for these poses and settings: checked before the tetrahedra are made.
        store = ExampleStore.create(out, body.rig, poses, resume, settings.decisive) if out.exists() else None
        if store is not None and not store.made:
            odd.append(f"{out} does not say how it was made: its settings could not be compared with these")
        for line in odd:
            (warn or (lambda _: None))(line)
        if store is not None and store.finished().all():
            return _figures(store) | {"notes": [*notes, *odd, "every pose was finished already"]}
        with status("making tetrahedra"):
            mesh = _filled(settings, body)
        if len(mesh.tets) > 1.25 * settings.elements and warn is not None:
            # The poses take that much longer: it must be known before they are solved.
            warn(f"{settings.elements} elements are too few for these bones: {len(mesh.tets)} are used")
        client = client or stack.enter_context(machines.cluster())
        log = out.with_name(out.name + ".log")
        if store is None:
            store = ExampleStore.create(out, body.rig, poses, made=settings.decisive)
            log.unlink(missing_ok=True)
        advance = stack.enter_context(counter("solving poses"))

        def keep(done: int, count: int, figures: dict[str, Any]) -> None:
            with log.open("a") as handle:
                handle.write(json.dumps(figures) + "\n")
            advance(done, count)

        solved = run(Job(body.rig, mesh, settings.tissue), poses, store, client, machines.retries, keep)
    return _figures(store) | _measured(mesh, solved) | {"notes": [*notes, *mesh.notes, *odd]}


def prepared(settings: Settings, note: Callable[[str], None] | None = None) -> tuple[Body, Motion, list[str]]:
    """Return the body, its poses, and notes. Faults in files are found before bones are made."""
    if settings.body in BUILT_IN:
        makers = {"hand": hand, "slender-hand": slender_hand}
        body = makers[settings.body](settings.level, settings.side) if settings.body in makers else arm()
        return body, poses_of(settings, body.rig, note), []
    path = Path(settings.body)
    if not path.exists() and not path.suffix:
        raise InputError(f"body {settings.body!r}: expected {', '.join(BUILT_IN)}, or the file of a rig")
    rig = load.load_rig(path)
    poses = poses_of(settings, rig, note)
    with files.naming(path):
        body = Body(rig, bones_of_rig(rig), cut_ends(rig.mesh))
    used = np.unique(rig.influences[rig.weights > 0])
    bare = [rig.skeleton.names[joint] for joint in used if joint not in {bone.joint for bone in body.bones}]
    missing = f"no bone fits inside the skin for {_named(bare)}: the flesh there follows the bones around it"
    return body, poses, [missing] if bare else []


def poses_of(settings: Settings, rig: Rig, note: Callable[[str], None] | None = None) -> Motion:
    """Return the chosen poses of the file, or of the joints' ranges and random poses; the rest pose is among them."""
    skeleton = rig.skeleton
    if settings.poses is None:
        if skeleton.limits is None:
            raise InputError(
                f"{settings.body}: its joints have no limits to step through; give them by `posespace limits`, or the "
                "poses with --poses FILE"
            )
        ranges = joint_ranges(skeleton, settings.step)
        accept = {"hand": bones_clear, "slender-hand": slender_clear}.get(settings.body)
        drawn = random_poses(skeleton, settings.random, settings.seed, accept=accept)
        turns, names = np.concatenate([ranges.rotations, drawn.rotations]), (*ranges.names, *drawn.names)
        given = Motion(turns, names=names).named(*settings.choice.only)
    else:
        given = settings.choice.load(settings.poses, skeleton, note=note)
    if at_rest(rig, given).any():
        return given
    return Motion.from_poses([rig.rest, *given], ["rest", *given.names])


def _possible(settings: Settings, body: Body, odd: list[str]) -> Settings:
    """The settings, without contact where the skin already touches itself at rest."""
    if settings.tissue.contact is None:
        return settings
    try:
        SkinContact.of(body.rig.mesh, settings.tissue.contact)
    except TouchingError as error:
        odd.append(f"{error}: simulated without contact, so skin may pass through skin; mend the rig to avoid that")
        return replace(settings, tissue=replace(settings.tissue, contact=None))
    return settings


def _naming(settings: Settings) -> AbstractContextManager[None]:
    """Put the rig's file in front of what is wrong with it."""
    return nullcontext() if settings.body in BUILT_IN else files.naming(Path(settings.body))


def _filled(settings: Settings, body: Body) -> TetMesh:
    with _naming(settings):
        try:
            return tetrahedralise(body.rig.mesh, body.bones, settings.elements, body.rig.skeleton.names, body.cuts)
        except CrowdedError as error:
            # The bones are ours: the size of the elements is all that a user can change.
            more = f"--elements {2 * settings.elements}, now {settings.elements}"
            raise InputError(f"ask for more elements ({more}): {error.problem}") from None


def _figures(store: ExampleStore) -> dict[str, Any]:
    return {
        "file": str(store.path),
        "poses": len(store),
        "finished": int(store.finished().sum()),
        "failed": store.failures(),
    }


def _measured(mesh: TetMesh, solved: list[dict[str, Any]]) -> dict[str, Any]:
    """What this run made and measured. The time is a median, so that compiling in the first pose does not count."""
    figures: dict[str, Any] = {"tetrahedra": len(mesh.tets), "nodes": len(mesh.points)}
    good = [entry for entry in solved if entry["converged"]]
    if good:
        figures |= {
            "seconds_per_pose": round(float(np.median([entry["seconds"] for entry in good])), 2),
            "least_jacobian": round(min(entry["least_jacobian"] for entry in good), 4),
            "largest_volume_change": round(max(abs(entry["volume_change"]) for entry in good), 5),
        }
    return figures


def _beyond_limits(rig: Rig, motion: Motion) -> list[str]:
    notes = []
    for pose, name in zip(motion, motion.names, strict=True):
        joints = rig.skeleton.beyond_limits(pose.rotations)
        if joints:
            notes.append(f"pose {name!r} turns {_named(joints)} beyond the limits; simulated anyway")
    more = len(notes) - _MOST_NOTES
    return notes if more <= 1 else [*notes[:_MOST_NOTES], f"{more} more poses go beyond the limits; simulated anyway"]


def _named(joints: Sequence[str]) -> str:
    shown = ", ".join(joints[:4])
    return shown if len(joints) <= 4 else f"{shown} and {len(joints) - 4} more"
