"""How much skin enters skin in a fist of the built-in hand, with and without contact, by either law.

Run: uv run python benchmarks/contact.py [--order 2] [--elements 5000]
"""

from __future__ import annotations

import argparse

import numpy as np

from posespace.check import Floats
from posespace.geometry.normals import vertex_normals
from posespace.geometry.surface import Surface
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.simulation.bodies.hand import hand
from posespace.simulation.bodies.hand_bones import FINGERS
from posespace.simulation.mesh.tetmesh import tetrahedralise
from posespace.simulation.settings import Tissue
from posespace.simulation.solver.contact import Contact, SkinContact
from posespace.simulation.solver.simulation import Simulation

FIST = {"mcp": 80.0, "pip": 90.0, "dip": 60.0}


def fist(rig: Rig, part: float) -> Pose:
    """The fist, closed by a fraction of its degrees."""
    angles = np.zeros((len(rig.skeleton), 3))
    for finger in FINGERS:
        for joint, degrees in FIST.items():
            angles[rig.skeleton.names.index(f"{finger}_{joint}"), 0] = np.radians(part * degrees)
    return Pose(rig.skeleton.rotations(angles))


def overlapping(rig: Rig, skin: Floats) -> int:
    """How many vertices lie inside other skin: just below them the surface winds twice.

    In the bottom of a crease two sides meet, but what is below each is still inside once.
    """
    inward = skin - 1e-3 * vertex_normals(skin, rig.mesh.triangles)
    return int((Surface(skin, rig.mesh.triangles).winding(inward) > 1.5).sum())


def main() -> None:
    """Print a line per pose and setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--order", type=int, default=1)
    parser.add_argument("--elements", type=int, default=5000)
    parser.add_argument("--level", type=int, default=0)
    parser.add_argument("--parts", type=float, nargs="+", default=[0.6, 0.8, 0.9, 1.0])
    chosen = parser.parse_args()
    body = hand(chosen.level)
    mesh = tetrahedralise(body.rig.mesh, body.bones, chosen.elements, body.rig.skeleton.names, body.cuts)
    print(f"order {chosen.order}, {len(mesh.tets)} tetrahedra, {len(body.rig.mesh.points)} skin vertices")
    touch = SkinContact(body.rig.mesh.points, body.rig.mesh.triangles, Contact())
    for law, contact in (("stable", None), ("calculix", None), ("calculix", Contact())):
        simulation = Simulation(body.rig, mesh, Tissue(chosen.order, law, contact=contact))
        for part in chosen.parts:
            pose = fist(body.rig, part)
            posed = simulation.solve(pose)
            solution = posed.solution
            row = {
                "law": law,
                "contact": "on" if contact else "off",
                "fist": f"{part:.0%}",
                "crosses itself": "yes" if touch.intersects(posed.skin) else "no",
                "vertices inside": overlapping(body.rig, posed.skin),
                "Newton steps": sum(solution.newton),
                "seconds": round(solution.seconds, 1),
                "least det F": round(solution.least_jacobian, 3),
                "volume": f"{solution.volume_change:+.1%}",
            }
            if not solution.converged:
                row = {"law": law, "contact": row["contact"], "fist": row["fist"], "not solved": solution.reason}
            print(" | ".join(f"{name} {value}" for name, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
