"""Whether a pose's skin is a smooth function of the pose: along each range of the stored hand, and there and back.

The change of the correction of plain skinning per degree is taken from the stored shapes, fitted and unseen angles alike.
With --back each range is followed from its end back to rest, a pose starting from the one before, and compared with the
stored shapes, which were all solved from rest. That takes about half a minute per pose.

Run: uv run python benchmarks/branch.py [--back] [--only index_pip] [--json]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from timing import show

from posespace import datasets
from posespace.check import Floats
from posespace.examples import Examples
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.simulate.bodies.hand import hand
from posespace.simulate.mesh.tetmesh import tetrahedralise
from posespace.simulate.settings import Tissue
from posespace.simulate.solver.simulation import Simulation


@dataclass(frozen=True, eq=False)
class Range:
    """One side of a range, outwards from rest: its name, degrees (P,), poses and shapes."""

    name: str
    degrees: Floats
    poses: list[Pose]
    shapes: list[Floats]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--back", action="store_true", help="also simulate the way back")
    parser.add_argument("--only", default="", help="ranges whose names start with this")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    train, _ = datasets.hand()
    ranges = [each for each in ranges_of((train, datasets.hand_between())) if each.name.startswith(given.only)]
    show("along each range", [changes(train.rig, each) for each in ranges], given.json)
    if given.back:
        body = hand()
        mesh = tetrahedralise(body.rig.mesh, body.bones, 11_000, body.rig.skeleton.names, body.cuts)
        simulation = Simulation(body.rig, mesh, Tissue())
        show("there and back", [back(simulation, each) for each in ranges], given.json)


def ranges_of(sets: tuple[Examples, ...]) -> list[Range]:
    """The sides of all ranges, from names such as `index_pip.x +69` and `between index_pip.x +77`."""
    found: dict[str, list[tuple[float, Pose, Floats]]] = {}
    rest = sets[0].motion[0], np.asarray(sets[0].shapes[0])
    for examples in sets:
        for name, pose, shape in zip(examples.motion.names, examples.motion, examples.shapes, strict=True):
            freedom, _, degrees = name.removeprefix("between ").partition(" ")
            if degrees:
                side = found.setdefault(f"{freedom} {degrees[0]}", [(0.0, *rest)])
                side.append((float(degrees), pose, np.asarray(shape)))
    ordered = {name: sorted(side, key=lambda entry: abs(entry[0])) for name, side in found.items()}
    return [
        Range(name, np.array([e[0] for e in side]), [e[1] for e in side], [e[2] for e in side])
        for name, side in ordered.items()
    ]


def changes(rig: Rig, each: Range) -> dict[str, str | float]:
    """How much the correction changes per degree: at the last step, and at the median step."""
    off = [shape - rig.skin(pose) for pose, shape in zip(each.poses, each.shapes, strict=True)]
    steps = np.abs(np.diff(each.degrees))
    mean = np.array([_rms(b - a) for a, b in zip(off, off[1:], strict=False)]) / steps
    most = np.array([_largest(b - a) for a, b in zip(off, off[1:], strict=False)]) / steps
    return {
        "range": f"{each.name}{abs(each.degrees[-1]):.0f}",
        "RMS, µm per degree, median": round(1e3 * float(np.median(mean)), 1),
        "last": round(1e3 * float(mean[-1]), 1),
        "last over median": round(float(mean[-1] / np.median(mean)), 2),
        "largest, mm per degree, median": round(float(np.median(most)), 3),
        "its most": round(float(most.max()), 3),
        "at": f"{each.degrees[int(most.argmax())]:+.0f} to {each.degrees[int(most.argmax()) + 1]:+.0f}",
    }


def back(simulation: Simulation, each: Range) -> dict[str, str | float]:
    """How far the shapes on the way back are from the stored ones."""
    posed = simulation.solve(each.poses[-1])
    gaps = [(0.0, 0.0)]
    for k in range(len(each.poses) - 1, 0, -1):
        posed = simulation.follow(each.poses[k], posed.nodes, each.poses[k - 1])
        if not posed.solution.converged:
            return {"range": each.name, "not solved": posed.solution.reason}
        gaps.append((_rms(posed.skin - each.shapes[k - 1]), _largest(posed.skin - each.shapes[k - 1])))
    worst = max(range(len(gaps)), key=lambda k: gaps[k][0])
    return {
        "range": f"{each.name}{abs(each.degrees[-1]):.0f}",
        "RMS apart, mm, most": round(gaps[worst][0], 3),
        "at": f"{each.degrees[len(gaps) - 1 - worst]:+.0f}",
        "largest, mm": round(gaps[worst][1], 2),
        "at rest again, mm": round(gaps[-1][0], 4),
    }


def _rms(gaps: Floats) -> float:
    return float(np.sqrt((gaps**2).sum(axis=1).mean()))


def _largest(gaps: Floats) -> float:
    return float(np.linalg.norm(gaps, axis=1).max())


if __name__ == "__main__":
    main()
