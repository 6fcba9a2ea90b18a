"""Many poses on many processes, by Dask: each is stored as it finishes, and a run that was killed can be resumed.

Workers only compute. The process that started the run writes the store, so a cluster needs no shared disk.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.formats.example_store import ExampleStore
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.simulate.mesh.tetmesh import TetMesh
from posespace.simulate.settings import Tissue
from posespace.simulate.solver.simulation import Simulation


@dataclass(frozen=True, eq=False)
class Job:
    """What every worker needs to solve any pose of a body."""

    rig: Rig
    mesh: TetMesh
    tissue: Tissue


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a pose: its skin (V, 3), empty if it was not solved, and figures of the solve."""

    index: int
    skin: Floats
    figures: dict[str, Any]


Report = Callable[[int, int, dict[str, Any]], None]


def run(
    job: Job, poses: Motion, store: ExampleStore, cluster: Any, retries: int, report: Report | None = None
) -> list[dict[str, Any]]:
    """Solve every unfinished pose of `store` and write it there as it finishes.

    Parameters
    ----------
    job : the body
    poses : the poses of the store, in its order
    store : opened or new
    cluster : a Dask client
    retries : how often a pose that raised an error is tried again
    report : called after each pose with how many are done, how many there are, and the figures of the pose

    Returns
    -------
    the figures of each pose solved now: its name, whether it converged, why not, iterations, volume change, seconds
    """
    from distributed import as_completed

    finished = store.finished()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Dask, about a large argument
        # Not scattered: a task's result that dies with its worker is recomputed, scattered data is lost.
        shared = cluster.submit(_given, job, key=f"job-{store.path.name}-{secrets.token_hex(4)}")
    futures: dict[int, Any] = {}
    for index in np.flatnonzero(~finished).tolist():
        futures[index] = cluster.submit(
            solve_pose,
            shared,
            index,
            poses[index],
            key=f"pose-{index}-{store.path.name}",
            retries=retries,
            pure=False,
        )
    done = int(finished.sum())
    figures: list[dict[str, Any]] = []
    for future in as_completed(list(futures.values())):  # type: ignore[no-untyped-call]
        outcome = _outcome(future)
        figures.append(outcome.figures | {"name": poses.names[outcome.index]})
        if outcome.figures["converged"]:
            store.write(outcome.index, outcome.skin)
        else:
            store.fail(outcome.index, outcome.figures["reason"])
        done += 1
        if report is not None:
            report(done, len(poses), figures[-1])
    return figures


def solve_pose(job: Job, index: int, pose: Pose) -> Outcome:
    """Solve one pose on a worker, from the rest shape."""
    posed = _simulation(job).solve(pose)
    solution = posed.solution
    figures = {
        "converged": solution.converged,
        "reason": solution.reason,
        "newton": int(sum(solution.newton)),
        "load_steps": solution.load_steps,
        "least_jacobian": solution.least_jacobian,
        "volume_change": solution.volume_change,
        "seconds": solution.seconds,
    }
    return Outcome(index, posed.skin if solution.converged else np.zeros((0, 3)), figures)


_READY: dict[int, tuple[Job, Simulation]] = {}


def _simulation(job: Job) -> Simulation:
    """The simulation of a job in this process, set up once."""
    token = id(job)
    if token not in _READY:
        _READY.clear()
        _READY[token] = job, Simulation(job.rig, job.mesh, job.tissue)
    return _READY[token][1]


def _given(job: Job) -> Job:
    return job


def _outcome(future: Any) -> Outcome:
    try:
        found: Outcome = future.result()
    except Exception as error:  # A pose whose worker died too often does not stop the rest.
        index = int(str(future.key).split("-")[1])
        reason = _why(error)
        return Outcome(index, np.zeros((0, 3)), {"converged": False, "reason": reason, "seconds": 0.0})
    return found


def _why(error: Exception) -> str:
    if type(error).__name__ == "KilledWorker":
        remedy = "give each more with --memory, or use fewer workers or fewer elements"
        return f"its workers died, {_deaths(error)} in all; if for lack of memory, {remedy}"
    return f"its worker failed ({type(error).__name__}: {(str(error).splitlines() or ['no message'])[0]})"


def _deaths(error: Any) -> int:
    return int(error.allowed_failures) + 1
