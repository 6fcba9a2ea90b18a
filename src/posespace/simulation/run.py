"""The whole simulation: a body or a rig in, an example store out."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace.cluster.machines import Machines
from posespace.errors import FileError, InputError
from posespace.examples import Examples
from posespace.formats.store.example_store import ExampleStore
from posespace.progress import counter, status
from posespace.rig import Rig
from posespace.simulation.batch import Job, run
from posespace.simulation.bodies.body import Body
from posespace.simulation.bodies.capsules import CrowdedError
from posespace.simulation.bodies.prepare import Prepared, beyond_limits, prepare, require_body
from posespace.simulation.mesh.tetmesh import TetMesh, tetrahedralise
from posespace.simulation.settings import Settings, require_extras
from posespace.simulation.solver.contact import SkinContact, TouchingError

_MOST_NOTES = 5
"""Poses beyond the limits that are named one by one."""

_MANY_MORE = 1.25
"""A mesh with more than this many times the elements asked for is worth a warning before its poses are solved."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """What a simulation stored.

    Parameters
    ----------
    store : the example store
    measured : figures of this run: size of the mesh, time and quality of the solves; empty where nothing was left to do
    notes : what a user should know about body, poses and mesh, one line each
    """

    store: ExampleStore
    measured: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def examples(self) -> Examples:
        """The finished poses as examples, read lazily from the store."""
        return Examples.open(self.store.path)

    @property
    def finished(self) -> int:
        """How many poses of the store have a shape."""
        return int(self.store.finished().sum())

    @property
    def failed(self) -> dict[str, str]:
        """Why each pose that could not be solved failed, by name."""
        return self.store.failures()

    def figures(self) -> dict[str, Any]:
        """Return all figures by name, for printing."""
        stored = {"file": str(self.store.path), "poses": len(self.store), "finished": self.finished}
        return {**stored, "failed": self.failed, **self.measured, "notes": [*self.notes]}


def simulate(
    body: str | Path | Rig | Body,
    path: str | Path,
    settings: Settings | None = None,
    *,
    resume: bool = False,
    machines: Machines | None = None,
    warn: Callable[[str], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> Simulated:
    """Simulate the poses of a body by finite elements and store each as soon as it is solved.

    Bad input is refused before the long work begins, and nothing is written before the first pose is being solved.

    Parameters
    ----------
    body : the name of a built-in body, such as "hand" or "arm"; the file of a rig; a Rig; or a Body with its own bones
    path : the example store to write
    settings : which poses, how fine a mesh, which tissue; None: the defaults
    resume : continue a store that exists already; it must be of the same rig, poses and settings
    machines : the processes or the cluster that solve the poses; None: one process on this machine
    warn : called with one line for anything odd about the cluster, the poses or the store, before poses are solved
    note : called with one line about how a clip of poses was chosen and read
    """
    out, settings, machines = Path(path), settings or Settings(), machines or Machines()
    if isinstance(body, str | Path):
        require_body(body)
    require_extras(body if isinstance(body, str | Path) else None, settings.poses)
    warn = warn or _ignore
    if out.exists() and not resume:
        raise FileError(out, "exists already; remove it, or continue it with `resume`")
    with ExitStack() as stack:
        # A scheduler that does not answer is reported before the long work.
        client = stack.enter_context(machines.cluster(warn)) if machines.scheduler else None
        with status("making the body"):
            prepared = prepare(body, settings, note)
        settings, odd = _checked(prepared, settings)
        made = settings.decisive | {"body": prepared.origin}
        # Before the tetrahedra are made, which takes long.
        store = _existing(out, prepared, made, odd)
        for line in odd:
            warn(line)
        if store is not None and store.finished().all():
            return Simulated(store, {}, (*prepared.notes, *odd, "every pose was finished already"))
        with status("making tetrahedra"):
            mesh = _tetrahedra(prepared, settings.elements)
        if len(mesh.tets) > _MANY_MORE * settings.elements:
            warn(f"{settings.elements} elements are too few for these bones: {len(mesh.tets)} are used")
        client = client or stack.enter_context(machines.cluster())
        store = store or _created(out, prepared, made)
        job = Job(prepared.body.rig, mesh, settings.tissue)
        measured = _solve(job, prepared, store, client, machines.retries)
    return Simulated(store, measured, (*prepared.notes, *mesh.notes, *odd))


def _ignore(_: str) -> None:
    pass


def _checked(prepared: Prepared, settings: Settings) -> tuple[Settings, list[str]]:
    """The settings, without contact where the skin already touches itself at rest, and what is odd about the input."""
    odd = beyond_limits(prepared.body.rig, prepared.poses, _MOST_NOTES)
    if settings.tissue.contact is None:
        return settings, odd
    try:
        SkinContact.of(prepared.body.rig.mesh, settings.tissue.contact)
    except TouchingError as error:
        odd.append(f"{error}: simulated without contact, so skin may pass through skin; mend the rig to avoid that")
        return replace(settings, tissue=replace(settings.tissue, contact=None)), odd
    return settings, odd


def _existing(out: Path, prepared: Prepared, made: dict[str, str | float], odd: list[str]) -> ExampleStore | None:
    """The store to resume, if there is one: it must have these poses and settings."""
    if not out.exists():
        return None
    store = ExampleStore.create(out, prepared.body.rig, prepared.poses, True, made)
    if not store.made:
        odd.append(f"{out} does not record its settings: they could not be compared with these")
    return store


def _created(out: Path, prepared: Prepared, made: dict[str, str | float]) -> ExampleStore:
    store = ExampleStore.create(out, prepared.body.rig, prepared.poses, made=made)
    _log_of(store).unlink(missing_ok=True)
    return store


def _tetrahedra(prepared: Prepared, elements: int) -> TetMesh:
    body = prepared.body
    with prepared.naming():
        try:
            return tetrahedralise(body.rig.mesh, body.bones, elements, body.rig.skeleton.names, body.cuts)
        except CrowdedError as error:
            # The bones are ours: the number of elements is all that a user can change.
            raise InputError(
                f"ask for more `elements`, such as {2 * elements} (now {elements}): {error.problem}"
            ) from None


def _solve(job: Job, prepared: Prepared, store: ExampleStore, client: Any, retries: int) -> dict[str, Any]:
    """Solve and store the poses that are not finished, log each, and return figures about the mesh and the solves."""
    with counter("solving poses") as advance:

        def log(done: int, count: int, figures: dict[str, Any]) -> None:
            with _log_of(store).open("a") as handle:
                handle.write(json.dumps(figures) + "\n")
            advance(done, count)

        solved = run(job, prepared.poses, store, client, retries, log)
    measured: dict[str, Any] = {"tetrahedra": len(job.mesh.tets), "nodes": len(job.mesh.points)}
    converged = [figures for figures in solved if figures["converged"]]
    if converged:
        measured |= {
            # The median, so that compiling in the first pose does not count.
            "seconds_per_pose": round(float(np.median([figures["seconds"] for figures in converged])), 2),
            "least_jacobian": round(min(figures["least_jacobian"] for figures in converged), 4),
            "largest_volume_change": round(max(abs(figures["volume_change"]) for figures in converged), 5),
        }
    return measured


def _log_of(store: ExampleStore) -> Path:
    """The file beside the store with one line of JSON for each pose that was solved."""
    return store.path.with_name(store.path.name + ".log")
