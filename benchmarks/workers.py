"""Two local processes against one on the same poses of a small hand, kernels compiled before the clock starts.

Run: uv run python benchmarks/workers.py [--workers 2] [--poses 20] [--elements 5000] [--json], on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from posespace.cluster.machines import Machines
from posespace.motion import Motion
from posespace.simulation.batch import Job, Outcome, solve_pose
from posespace.simulation.bodies.hand import hand
from posespace.simulation.mesh.tetmesh import tetrahedralise
from posespace.simulation.poses import random_poses
from posespace.simulation.settings import Tissue


def main() -> None:
    options = _options()
    body = hand(0)
    mesh = tetrahedralise(body.rig.mesh, body.bones, options.elements, body.rig.skeleton.names, body.cuts)
    job = Job(body.rig, mesh, Tissue())
    motion = random_poses(body.rig.skeleton, options.poses, seed=2002, fraction=0.5)
    rows = {}
    for workers in (1, options.workers):
        with Machines(workers).cluster() as cluster:
            rows[workers] = _timed(cluster, job, motion)
    ratio = rows[1]["clock"] / rows[options.workers]["clock"]
    title = f"{len(motion)} poses, {len(mesh.tets)} 10-node tetrahedra, each process on one thread"
    if options.json:
        print(json.dumps({"title": title, "workers": rows, "ratio": ratio}))
        return
    print(title)
    for workers, row in rows.items():
        print(
            f"  {workers} of them: {row['clock']:7.1f} s by the clock, {row['solving']:7.1f} s of solving, "
            f"{row['solved']} poses solved"
        )
    print(f"  {options.workers} are {ratio:.2f} x as fast as 1")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2, help="local processes that are compared with one")
    parser.add_argument("--poses", type=int, default=20, help="random poses of all joints, each from rest")
    parser.add_argument("--elements", type=int, default=5000, help="tetrahedra wanted")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args()


def _timed(cluster: Any, job: Job, motion: Motion) -> dict[str, float]:
    """Solve all poses on warm processes: seconds by the clock, and the sum of the poses' own."""
    shared = cluster.scatter(job, broadcast=True)
    addresses = list(cluster.ncores())
    first = [cluster.submit(solve_pose, shared, 0, motion[0], workers=[address], pure=False) for address in addresses]
    cluster.gather(first)
    began = time.perf_counter()
    futures = [cluster.submit(solve_pose, shared, index, pose, pure=False) for index, pose in enumerate(motion)]
    outcomes: list[Outcome] = cluster.gather(futures)
    clock = time.perf_counter() - began
    solving = float(np.sum([outcome.figures["seconds"] for outcome in outcomes]))
    return {"clock": clock, "solving": solving, "solved": sum(outcome.figures["converged"] for outcome in outcomes)}


if __name__ == "__main__":
    main()
