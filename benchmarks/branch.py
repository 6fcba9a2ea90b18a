"""Whether a pose's skin is a smooth function of the pose: along each range of the stored hand, and there and back.

The change of the correction per degree is taken from the stored shapes, fitted and unseen angles alike. With --back
each range is followed from its end back to rest, a pose starting from the one before, and compared with the stored
shapes, which were all solved from rest. That takes about a quarter of a minute per pose.

Run: uv run python benchmarks/branch.py [--back] [--only index_pip] [--json]
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import show

from posespace import datasets
from posespace.check import Floats
from posespace.datasets.ranges import Range, ranges_of
from posespace.simulation.bodies.hand import hand
from posespace.simulation.mesh.tetmesh import tetrahedralise
from posespace.simulation.settings import Tissue
from posespace.simulation.solver.simulation import Simulation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--back", action="store_true", help="also simulate the way back")
    parser.add_argument("--only", default="", help="ranges whose names start with this")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    every = ranges_of(datasets.hand()[0], datasets.hand_between())
    chosen = [each for each in every if each.name.startswith(given.only)]
    show("along each range", [along(each) for each in chosen], given.json)
    if given.back:
        body = hand()
        mesh = tetrahedralise(body.rig.mesh, body.bones, 11_000, body.rig.skeleton.names, body.cuts)
        simulation = Simulation(body.rig, mesh, Tissue())
        show("there and back", [back(simulation, each) for each in chosen], given.json)


def along(each: Range) -> dict[str, object]:
    """How much the correction changes per degree: at the last step, and at the median step."""
    mean, most = each.changes()
    sudden = ", ".join(f"{start:+.0f} to {end:+.0f}" for start, end in each.jumps())
    return {
        "range": f"{each.name}{abs(each.degrees[-1]):.0f}",
        "RMS, µm per degree, median": round(1e3 * float(np.median(mean)), 1),
        "last": round(1e3 * float(mean[-1]), 1),
        "last over median": round(float(mean[-1] / np.median(mean)), 2),
        "largest, mm per degree, median": round(float(np.median(most)), 3),
        "most": round(float(most.max()), 3),
        "sudden": sudden,
    }


def back(simulation: Simulation, each: Range) -> dict[str, object]:
    """How far the shapes on the way back are from the stored ones."""
    rig, posed = simulation.rig, simulation.solve(each.poses[-1])
    gaps = [(0.0, 0.0)]
    for k in range(len(each.poses) - 1, 0, -1):
        before = each.poses[k - 1]
        posed = simulation.follow(each.poses[k], posed.nodes, before)
        if not posed.solution.converged:
            return {"range": each.name, "not solved": posed.solution.reason}
        gaps.append(_apart(posed.skin - rig.skin(before) - each.corrections[k - 1]))
    worst = max(range(len(gaps)), key=lambda k: gaps[k][0])
    return {
        "range": f"{each.name}{abs(each.degrees[-1]):.0f}",
        "RMS apart, mm, most": round(gaps[worst][0], 3),
        "at": f"{each.degrees[len(gaps) - 1 - worst]:+.0f}",
        "largest, mm": round(gaps[worst][1], 2),
        "at rest again, mm": round(gaps[-1][0], 4),
    }


def _apart(gaps: Floats) -> tuple[float, float]:
    return float(np.sqrt((gaps**2).sum(axis=1).mean())), float(np.linalg.norm(gaps, axis=1).max())


if __name__ == "__main__":
    main()
