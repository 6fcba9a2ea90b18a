"""Renders the pictures of the documentation.

Run: uv run python docs/pictures.py [names of some: views tets bends muscles signals retarget frame]
and: uv run python docs/pictures.py outside.examples, a store of the rig from outside that `posespace simulate` made
"""

from __future__ import annotations

import sys
from pathlib import Path

import muscle_pictures
import numpy as np
from frame_picture import frame

from posespace.check import Floats
from posespace.formats.example_store import ExampleStore
from posespace.pose import Pose
from posespace.report.camera import Camera
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import Image, render
from posespace.simulate.bodies.hand import hand
from posespace.simulate.mesh.cutaway import cut_open
from posespace.simulate.mesh.tetmesh import tetrahedralise
from posespace.simulate.settings import Tissue
from posespace.simulate.solver.simulation import Simulation
from posespace.skeleton import Skeleton

IMG = Path(__file__).with_name("img")

Bends = dict[str, tuple[float, ...]]
"""Degrees that joints turn from rest, about each of their axes."""

FINGER: Bends = {"index_pip": (76,)}  # From 14 degrees at rest, 90 between the bones.
FIST: Bends = {
    **{f"{finger}_mcp": (69,) for finger in ("index", "middle", "ring", "little")},
    **{f"{finger}_pip": (77,) for finger in ("index", "middle", "ring", "little")},
    **{f"{finger}_dip": (46,) for finger in ("index", "middle", "ring", "little")},
    "thumb_cmc": (32, -5),
    "thumb_mcp": (37,),
    "thumb_ip": (46,),
}


def views() -> None:
    """The hand from four sides."""
    mesh = hand(2).rig.mesh
    sides = {"back": (0, 0, 1), "palm": (0, 0, -1), "thumb side": (-1, 0.1, 0), "from above": (-0.5, -0.6, 0.8)}
    cells = [
        render(mesh.points, mesh.triangles, Camera.fit(mesh.points, direction), (380, 420))
        for direction in sides.values()
    ]
    save_png(IMG / "hand.png", montage([cells], titles=list(sides)))


def tets() -> None:
    """The tetrahedra cut open along the middle finger."""
    body = hand(1)
    mesh = tetrahedralise(body.rig.mesh, body.bones, 11_000, body.rig.skeleton.names)
    points, triangles, colors = cut_open(mesh, body.bones, (0.0, 0.0, 1.5), (0.0, 0.0, 1.0))
    flat = points[triangles].reshape(-1, 3)
    faces = np.arange(len(flat)).reshape(-1, 3)
    normal = np.cross(flat[1::3] - flat[0::3], flat[2::3] - flat[0::3])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    camera = Camera.fit(flat, (0.3, -0.4, 1.0))
    colored = colors[triangles].reshape(-1, 3)
    picture = render(flat, faces, camera, (900, 900), colors=colored, normals=np.repeat(normal, 3, axis=0))
    save_png(IMG / "tets.png", picture)


def bends() -> None:
    """A bent finger and a fist: plain skinning beside the simulation."""
    body = hand(1)
    skeleton = body.rig.skeleton
    simulation = Simulation(body.rig, tetrahedralise(body.rig.mesh, body.bones, 11_000, skeleton.names), Tissue())
    joint = skeleton.rest_world[skeleton.index("index_pip"), :3, 3]
    close = Camera((-1.0, 0.15, 0.25), target=joint - (0.0, 2.0, 6.0), extent=32.0)
    compare("finger", simulation, FINGER, [close])
    sides = [Camera(towards, target=(-10, 74, -26), extent=58.0) for towards in ((-0.35, 0.25, -1), (-1, 0.2, -0.2))]
    compare("fist", simulation, FIST, sides)


def compare(name: str, simulation: Simulation, turns: Bends, cameras: list[Camera]) -> None:
    """Write img/`name`.png: a row for each camera, skinning at the left and the simulation at the right."""
    rig = simulation.rig
    start: tuple[Pose, Floats] | None = None
    for part in (0.8, 0.92, 1.0):  # The last degrees in short steps, in which creases form.
        pose = _pose(rig.skeleton, turns, part)
        posed = simulation.solve(pose, start)
        if not posed.solution.converged:
            sys.exit(f"{name}: {posed.solution.reason}")
        start = pose, posed.nodes
    shapes = [rig.skin(pose), posed.skin]
    rows = []
    for camera in cameras:
        view = camera.framing(np.stack(shapes))
        rows.append([render(shape, rig.mesh.triangles, view, (480, 420)) for shape in shapes])
    save_png(IMG / f"{name}.png", montage(rows, titles=["plain skinning", "simulated"]))


def _pose(skeleton: Skeleton, turns: Bends, part: float) -> Pose:
    angles = np.zeros((len(skeleton), 3))
    for joint, degrees in turns.items():
        angles[skeleton.index(joint), : len(degrees)] = part * np.radians(degrees)
    return Pose(skeleton.rotations(angles))


def outside_rig(examples: Path) -> None:
    """Plain skinning and the simulation of a rig from outside, side by side."""
    store = ExampleStore.open(examples)
    names, triangles = ("Grip 1", "Grip 2", "Grip Shaft"), store.rig.mesh.triangles
    rows: list[list[Image]] = [[], []]
    for index in map(store.motion.names.index, names):
        pair = store.rig.skin(store.motion[index]), store.shape(index)
        camera = Camera.fit(np.stack(pair), (1, 0.3, 0), up=(0, 0, -1))
        for row, points in zip(rows, pair, strict=True):
            row.append(render(points, triangles, camera, (270, 300)))
    save_png(IMG / "outside-rig.png", montage(rows, labels=["plain skinning", "simulated"], titles=list(names)))


PICTURES = {
    "views": views,
    "tets": tets,
    "bends": bends,
    "muscles": muscle_pictures.muscles,
    "signals": muscle_pictures.signals,
    "retarget": muscle_pictures.retarget,
    "frame": frame,
}

if __name__ == "__main__":
    for picture in sys.argv[1:] or PICTURES:
        if picture.endswith(".examples"):
            outside_rig(Path(picture))
        else:
            PICTURES[picture]()
