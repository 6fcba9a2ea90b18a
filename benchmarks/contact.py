"""How deep skin enters skin in a fist of the built-in hand, with and without contact.

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
from posespace.simulate.bodies.hand import hand
from posespace.simulate.bodies.hand_bones import FINGERS
from posespace.simulate.mesh.tetmesh import tetrahedralise
from posespace.simulate.settings import Tissue
from posespace.simulate.solver.contact import Contact
from posespace.simulate.solver.simulation import Simulation

FIST = {"mcp": 80.0, "pip": 90.0, "dip": 60.0}


def fist(rig: Rig, part: float) -> Pose:
    """The fist, closed by a fraction of its degrees."""
    angles = np.zeros((len(rig.skeleton), 3))
    for finger in FINGERS:
        for joint, degrees in FIST.items():
            angles[rig.skeleton.names.index(f"{finger}_{joint}"), 0] = np.radians(part * degrees)
    return Pose(rig.skeleton.rotations(angles))


def depths(rig: Rig, skin: Floats) -> Floats:
    """How deep (K,) each vertex that is inside other skin lies there, in the rig's units."""
    surface = Surface(skin, rig.mesh.triangles)
    normals = vertex_normals(skin, rig.mesh.triangles)
    inside = surface.winding(skin + 0.05 * normals) > 0.5
    nearest = surface.closest(skin[inside], -normals[inside]).points
    found: Floats = np.linalg.norm(nearest - skin[inside], axis=1)
    return found


def main() -> None:
    """Print a line per pose and setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--order", type=int, default=1)
    parser.add_argument("--elements", type=int, default=5000)
    parser.add_argument("--level", type=int, default=0)
    parser.add_argument("--parts", type=float, nargs="+", default=[0.6, 0.8, 0.9, 1.0])
    parser.add_argument("--contact-only", action="store_true")
    chosen = parser.parse_args()
    body = hand(chosen.level)
    mesh = tetrahedralise(body.rig.mesh, body.bones, chosen.elements, body.rig.skeleton.names)
    print(f"order {chosen.order}, {len(mesh.tets)} tetrahedra, {len(body.rig.mesh.points)} skin vertices")
    for contact in (Contact(),) if chosen.contact_only else (None, Contact()):
        simulation, start = Simulation(body.rig, mesh, Tissue(chosen.order, contact=contact)), None
        for part in chosen.parts:
            pose = fist(body.rig, part)
            posed = simulation.solve(pose, start)
            solution, deep = posed.solution, depths(body.rig, posed.skin)
            figures = f"{len(deep)} inside, 95th percentile {np.percentile(deep, 95) if len(deep) else 0:.2f} mm"
            print(
                f"{'contact' if contact else 'without'} {part:.0%} of the fist: {figures}, deepest "
                f"{deep.max(initial=0):.2f} mm; {sum(solution.newton)} Newton steps, {solution.seconds:.0f} s, "
                f"volume {solution.volume_change:+.2%} {solution.reason}",
                flush=True,
            )
            start = (pose, posed.nodes) if solution.converged else start


if __name__ == "__main__":
    main()
