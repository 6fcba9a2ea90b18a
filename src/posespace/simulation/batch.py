"""Many poses on many processes: each is stored as it finishes, and a run that was killed can be resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.cluster import batch
from posespace.formats.store.example_store import ExampleStore
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.simulation.mesh.tetmesh import TetMesh
from posespace.simulation.settings import Tissue
from posespace.simulation.solver.simulation import Simulation


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
    finished = store.finished()
    pieces = {index: poses[index] for index in np.flatnonzero(~finished).tolist()}
    done = int(finished.sum())
    figures: list[dict[str, Any]] = []
    for index, outcome in batch.finished(cluster, solve_pose, job, pieces.items(), retries, "fewer elements"):
        if isinstance(outcome, batch.Failed):
            result: dict[str, Any] = {"converged": False, "reason": outcome.reason, "seconds": 0.0}
        else:
            result = outcome.figures
        figures.append(result | {"name": poses.names[index]})
        if result["converged"]:
            store.write(index, outcome.skin)
        else:
            store.fail(index, result["reason"])
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
