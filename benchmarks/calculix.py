"""The solver against CalculiX on a hand with one bent finger: seconds, one thread each, and how far apart they end.

The ratio is that of the processor's seconds, which other work on the machine changes little; the clock's stand beside.

Run: uv run python benchmarks/calculix.py [--elements 11000] [--degrees 69] [--json]; needs `ccx` on the path.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np
from timing import wants_json

from posespace.pose import Pose
from posespace.simulation.bodies.hand import hand
from posespace.simulation.mesh.tetmesh import tetrahedralise
from posespace.simulation.settings import Tissue
from posespace.simulation.solver.simulation import Posed, Simulation
from posespace.skeleton import Skeleton

JOINT = "index_pip"
STEP = 15.0  # Degrees of the arc in each *STEP of CalculiX, which cuts them as it needs.


def main() -> None:
    options, rest = _options().parse_known_args()
    sys.argv[1:] = rest
    as_json = wants_json()
    program = shutil.which("ccx")
    if program is None:
        sys.exit("no ccx on the path; Debian and Ubuntu have it in calculix-ccx")
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from helpers.calculix import arc, solve

    body = hand(level=1)
    mesh = tetrahedralise(body.rig.mesh, body.bones, options.elements, cuts=body.cuts)
    # Flesh alone, as the deck has it: no skin of its own, no contact.
    bare = {law: Tissue(2, law, 0.45, skin=0.0, contact=None) for law in ("stable", "calculix")}
    simulations = {law: Simulation(body.rig, mesh, tissue) for law, tissue in bare.items()}
    pose = _bent(body.rig.skeleton, options.degrees)
    found = {law: _solved(simulation, _bent(body.rig.skeleton, 1.0), pose) for law, simulation in simulations.items()}
    same = simulations["calculix"]
    path = arc(same, pose, found["calculix"][0].nodes, int(np.ceil(options.degrees / STEP)))
    before = os.times()
    moved, clock = solve(program, same.solver, path, timeout=7200.0)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    free = same.solver.system.free
    rows = {"ccx": {"clock": clock, "seconds": seconds, "ratio": 1.0, "difference": 0.0}}
    for law, (posed, taken) in found.items():
        gap = np.linalg.norm((posed.nodes - same.rest_nodes - moved)[free]) / np.linalg.norm(moved[free])
        row = {"clock": posed.solution.seconds, "seconds": taken, "ratio": seconds / taken, "difference": float(gap)}
        rows[f"posespace, {law}"] = row
    title = f"{JOINT} at {options.degrees:g}°, {len(mesh.tets)} 10-node tetrahedra, {len(same.rest_nodes)} nodes"
    _report(title, rows, as_json)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(epilog="--json prints the figures as JSON")
    parser.add_argument("--elements", type=int, default=11_000, help="tetrahedra wanted, at least about 4000")
    parser.add_argument("--degrees", type=float, default=69.0, help=f"how far {JOINT} bends")
    return parser


def _bent(skeleton: Skeleton, degrees: float) -> Pose:
    angles = np.zeros((len(skeleton), 3))
    angles[skeleton.index(JOINT), 0] = np.radians(degrees)
    return Pose(skeleton.rotations(angles))


def _solved(simulation: Simulation, first: Pose, pose: Pose) -> tuple[Posed, float]:
    """Solve `pose` from rest, after `first` has compiled the kernels; the processor's seconds beside."""
    simulation.solve(first)
    began = time.process_time()
    posed = simulation.solve(pose)
    seconds = time.process_time() - began
    if not posed.solution.converged:
        sys.exit(f"{simulation.tissue.law}: {posed.solution.reason}")
    return posed, seconds


def _report(title: str, rows: dict[str, dict[str, float]], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"title": title, "rivals": rows}))
        return
    print(title)
    for name, row in rows.items():
        print(
            f"  {name:20s} {row['seconds']:9.2f} s ({row['clock']:.2f} by the clock)"
            f"  {row['ratio']:6.1f} x as fast as ccx  displacements differ by {100 * row['difference']:.5f} %"
        )


if __name__ == "__main__":
    main()
