"""How far the built-in hand's mesh is from converged: the same poses on finer meshes, each solved from rest.

Run: uv run python benchmarks/refinement.py [--elements 11000 22000 44000] [--json]; the finest takes minutes a pose.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass

import numpy as np

from posespace import datasets
from posespace.check import Floats
from posespace.cli.printing import markdown_table
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.simulation.bodies.hand import hand
from posespace.simulation.mesh.tetmesh import tetrahedralise
from posespace.simulation.settings import Tissue
from posespace.simulation.solver.simulation import Simulation

POSES = ("index_pip.x +69", "index_mcp.x +66", "thumb_cmc.x +35", "random 3")


@dataclass(frozen=True)
class Solved:
    """Skins (V, 3) of the poses on one mesh, None for one not solved, the processor's seconds, and the mesh's size."""

    skins: list[Floats | None]
    seconds: list[float]
    tetrahedra: int
    nodes: int


def main() -> None:
    options = _options()
    body = hand(1)
    motion = _poses(options.poses)
    solved = []
    for elements in sorted(options.elements):
        mesh = tetrahedralise(body.rig.mesh, body.bones, elements, body.rig.skeleton.names, body.cuts)
        print(f"{elements}: {len(mesh.tets)} tetrahedra; {'; '.join(mesh.notes)}", file=sys.stderr)
        simulation = Simulation(body.rig, mesh, Tissue())
        simulation.solve(body.rig.rest)  # Compiles the kernels.
        runs = [_run(simulation, pose, f"{elements}, {name}") for pose, name in zip(motion, motion.names, strict=True)]
        skins, seconds = ([run[part] for run in runs] for part in (0, 1))
        solved.append(Solved(skins, seconds, len(mesh.tets), len(simulation.rest_nodes)))
    rows = [row for k, name in enumerate(motion.names) for row in _rows(body.rig, motion[k], name, k, solved)]
    if options.json:
        print(json.dumps({"title": "the hand on finer meshes", "rows": rows}))
        return
    print(markdown_table(rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--elements", type=int, nargs="+", default=[11_000, 22_000, 44_000], help="tetrahedra wanted")
    parser.add_argument("--poses", nargs="+", default=list(POSES), help="names of poses of the built-in hand")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args()


def _poses(names: list[str]) -> Motion:
    both = datasets.hand()
    found = [next(part.motion[name] for part in both if name in part.motion.names) for name in names]
    return Motion.from_poses(found, names)


def _run(simulation: Simulation, pose: Pose, title: str) -> tuple[Floats | None, float]:
    """Return the skin of a pose, None if it was not solved, and the seconds of the processor, which runs one thread."""
    began = time.process_time()
    posed = simulation.solve(pose)
    seconds = time.process_time() - began
    print(f"{title}: {seconds:.0f} s {posed.solution.reason}", file=sys.stderr)
    return posed.skin if posed.solution.converged else None, seconds


def _rows(rig: Rig, pose: Pose, name: str, number: int, solved: list[Solved]) -> list[dict[str, str | int | float]]:
    """One row per mesh: how far its skin is from the finest mesh's, in mm and as a fraction of plain skinning's."""
    skins = [mesh.skins[number] for mesh in solved]
    finest = next((skin for skin in reversed(skins) if skin is not None), rig.skin(pose))
    skinned = _rms(rig.skin(pose) - finest)
    rows: list[dict[str, str | int | float]] = []
    for mesh, skin in zip(solved, skins, strict=True):
        gap = np.full_like(finest, np.nan) if skin is None else skin - finest
        rows.append(
            {
                "pose": name,
                "tetrahedra": mesh.tetrahedra,
                "nodes": mesh.nodes,
                "RMS, mm": round(_rms(gap), 4),
                "largest, mm": round(float(np.linalg.norm(gap, axis=1).max()), 3),
                "RMS over plain skinning's": f"{100 * _rms(gap) / skinned:.1f} %",
                "seconds": round(mesh.seconds[number], 1),
            }
        )
    return rows


def _rms(gaps: Floats) -> float:
    return float(np.sqrt((gaps**2).sum(axis=1).mean()))


if __name__ == "__main__":
    main()
