"""CalculiX as a second opinion: writes a deck, runs `ccx` and reads the displacements back."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.geometry import rotations, skinning
from posespace.pose import Pose
from posespace.simulation.solver.material import Material
from posespace.simulation.solver.simulation import Simulation
from posespace.simulation.solver.solve import Solver

TYPES = {4: "C3D4", 10: "C3D10"}

# Largest residual by mean force, and last correction by displacement; CalculiX asks for 5e-3 and 1e-2 by default.
_TIGHT = "*CONTROLS, PARAMETERS=FIELD\n1e-7, 1e-6\n"


class CalculixError(Exception):
    """CalculiX did not reach the end of the load."""


def solve(
    program: str, solver: Solver, path: Sequence[Floats], threads: int = 1, timeout: float = 3600.0
) -> tuple[Floats, float]:
    """Let CalculiX solve for the shape that `solver` solves for, with its own neo-Hookean law.

    Parameters
    ----------
    program : the path of `ccx`
    solver : whose mesh, fixed nodes and elastic constants are taken
    path : positions (N, 3) at the end of each *STEP; only those of fixed nodes are read. In a step they move straight
    threads : for the element sums and for SPOOLES
    timeout : seconds before giving up

    Returns
    -------
    displacements : (N, 3), as printed to seven digits
    seconds : wall time of `ccx`
    """
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "CCX_NPROC_STIFFNESS"), str(threads))
    with tempfile.TemporaryDirectory(prefix="calculix-") as name:
        folder = Path(name)
        with (folder / "job.inp").open("w") as file:
            file.writelines(_deck(solver, path))
        began = time.perf_counter()
        try:
            run = subprocess.run(
                [program, "job"],
                check=False,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            raise CalculixError(f"no end after {timeout:.0f} s; {_progress(folder)}") from None
        seconds = time.perf_counter() - began
        if run.returncode or "*ERROR" in run.stdout or "Job finished" not in run.stdout:
            tail = "\n".join(run.stdout.splitlines()[-12:])
            raise CalculixError(f"ccx ended with {run.returncode}; {_progress(folder)}\n{tail}")
        return _displacements(folder / "job.dat", len(solver.system.points)), seconds


def arc(simulation: Simulation, pose: Pose, nodes: Floats, steps: int) -> list[Floats]:
    """Return `steps` positions (N, 3) of the fixed nodes on the way from rest to `pose`, solved as `nodes` (N, 3)."""
    rig, rest, fixed = simulation.rig, simulation.rest_nodes, simulation.solver.system.fixed
    ends = np.stack([skinning.apply(matrix[None], rest[fixed]) for matrix in rig.transforms(pose)])
    owner = np.linalg.norm(ends - nodes[fixed], axis=2).argmin(axis=0)
    path = []
    for fraction in np.arange(1, steps) / steps:
        turn = rotations.slerp(rig.rest.rotations, pose.rotations, np.full(len(pose.rotations), fraction))
        placed = rest.copy()
        placed[fixed] = skinning.apply(rig.transforms(Pose(turn, pose.translations))[owner], rest[fixed])
        path.append(placed)
    return [*path, nodes]


def _deck(solver: Solver, path: Sequence[Floats]) -> Iterator[str]:
    """Yield the lines of the deck; CalculiX reads up to 20 characters a number."""
    material = Material("calculix", solver.system.material.poisson, solver.system.material.young)
    yield "*NODE, NSET=ALL\n"
    for node, (x, y, z) in enumerate(solver.system.points.tolist(), 1):
        yield f"{node},{x:.12e},{y:.12e},{z:.12e}\n"
    yield f"*ELEMENT, TYPE={TYPES[solver.system.tets.shape[1]]}, ELSET=FLESH\n"
    for element, nodes in enumerate((solver.system.tets + 1).tolist(), 1):
        yield f"{element},{','.join(map(str, nodes))}\n"
    yield "*MATERIAL, NAME=TISSUE\n*HYPERELASTIC, NEO HOOKE\n"
    yield f"{material.shear / 2:.12e},{2 / material.bulk:.12e}\n"
    yield "*SOLID SECTION, ELSET=FLESH, MATERIAL=TISSUE\n"
    fixed = np.flatnonzero(solver.system.fixed)
    for step, placed in enumerate(path, 1):
        yield "*STEP, NLGEOM, INC=200\n*STATIC, SOLVER=SPOOLES\n1.0,1.0,1e-3,1.0\n"
        yield _TIGHT if step == len(path) else ""
        yield "*BOUNDARY\n"
        for node, move in zip((fixed + 1).tolist(), (placed - solver.system.points)[fixed].tolist(), strict=True):
            for axis in range(3):
                yield f"{node},{axis + 1},{axis + 1},{move[axis]:.12e}\n"
        yield "*NODE PRINT, NSET=ALL, FREQUENCY=999\nU\n*END STEP\n"


def _displacements(file: Path, count: int) -> Floats:
    """Read the last block of displacements (count, 3); CalculiX prints no node that lies in no element."""
    block = file.read_text().rpartition("displacements")[2].splitlines()[1:]
    rows = np.array([line.split() for line in block if line.strip()], dtype=np.float64)
    found = np.zeros((count, 3))
    found[rows[:, 0].astype(np.int64) - 1] = rows[:, 1:]
    return found


def _progress(folder: Path) -> str:
    status = folder / "job.sta"
    lines = status.read_text().splitlines() if status.is_file() else []
    return f"its last increment: {lines[-1].strip()}" if len(lines) > 2 else "no increment was done"
