"""Where the crook of the arm's elbow folds: each angle solved from rest, and on the way back from the largest.

Run: uv run python benchmarks/fold.py [--elements 4000] [--json]; takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

from posespace.pose import Pose
from posespace.simulate.bodies.arm import arm
from posespace.simulate.mesh.tetmesh import tetrahedralise
from posespace.simulate.settings import Tissue
from posespace.simulate.solver.simulation import Posed, Simulation
from posespace.skeleton import Skeleton

STEP = 5.0
DEGREES = np.arange(60.0, 101.0, STEP)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--elements", type=int, default=4000, help="tetrahedra wanted")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    body = arm()
    mesh = tetrahedralise(body.rig.mesh, body.bones, options.elements)
    simulation = Simulation(body.rig, mesh, Tissue())
    poses = [_bent(body.rig.skeleton, degrees) for degrees in DEGREES]
    there = [_solved(simulation, pose) for pose in poses]
    back = [there[-1]]
    for before, pose in zip(poses[:0:-1], poses[-2::-1], strict=True):
        back.append(_solved(simulation, pose, (before, back[-1])))
    corrections = [body.rig.residual(pose, posed.skin)[0] for pose, posed in zip(poses, there, strict=True)]
    rows = []
    for k, (degrees, out, home) in enumerate(zip(DEGREES, there, back[::-1], strict=True)):
        change = _largest(corrections[k] - corrections[k - 1]) / STEP if k else 0.0
        apart = _largest(out.skin - home.skin)
        rows.append({"degrees": degrees, "mm a degree since the last": round(change, 2), "mm apart": round(apart, 2)})
    if options.json:
        print(json.dumps({"title": f"elbow, {len(mesh.tets)} 10-node tetrahedra", "rows": rows}))
        return
    for row in rows:
        print("  ".join(f"{name} {value:6.2f}" for name, value in row.items()))


def _bent(skeleton: Skeleton, degrees: float) -> Pose:
    angles = np.zeros((len(skeleton), 3))
    angles[skeleton.index("forearm"), 0] = np.radians(degrees)
    return Pose(skeleton.rotations(angles))


def _solved(simulation: Simulation, pose: Pose, start: tuple[Pose, Posed] | None = None) -> Posed:
    posed = simulation.solve(pose, None if start is None else (start[0], start[1].nodes))
    if not posed.solution.converged:
        sys.exit(posed.solution.reason)
    return posed


def _largest(gaps: np.ndarray) -> float:
    return float(np.linalg.norm(gaps, axis=1).max())


if __name__ == "__main__":
    main()
