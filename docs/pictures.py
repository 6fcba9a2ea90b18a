"""Renders the pictures of the documentation.

Run: uv run python docs/pictures.py [names of some, as in `PICTURES`]
and: uv run python docs/pictures.py outside.examples, a store of the rig from outside that `posespace simulate` made
"""

from __future__ import annotations

import sys
from pathlib import Path

import muscle_pictures
import numpy as np
import points_pictures
import register_pictures
from bone_picture import bones
from frame_picture import frame
from scan_pictures import scans

from posespace import datasets
from posespace.examples import Examples
from posespace.formats.store.example_store import ExampleStore
from posespace.report.camera import Camera
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import Image, render
from posespace.simulation.bodies.hand import hand
from posespace.simulation.mesh.cutaway import cut_open
from posespace.simulation.mesh.tetmesh import tetrahedralise

IMG = Path(__file__).with_name("img")


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
    mesh = tetrahedralise(body.rig.mesh, body.bones, 11_000, body.rig.skeleton.names, body.cuts)
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
    """A bent finger and a fist of the built-in hand: plain skinning beside the simulation."""
    train, _ = datasets.hand()
    joint = train.rig.skeleton.rest_world[train.rig.skeleton.index("index_pip"), :3, 3]
    close = Camera((-1.0, 0.15, 0.25), target=joint - (0.0, 2.0, 6.0), extent=32.0)
    compare("finger", train, "index_pip.x +86", [close])
    sides = [Camera(towards, target=(-10, 74, -26), extent=58.0) for towards in ((-0.35, 0.25, -1), (-1, 0.2, -0.2))]
    compare("fist", datasets.hand_grasps(), "fist", sides)


def compare(title: str, examples: Examples, name: str, cameras: list[Camera]) -> None:
    """Write img/`title`.png: a row for each camera, plain skinning at the left and the named example at the right."""
    rig, index = examples.rig, examples.motion.names.index(name)
    shapes = [rig.skin(examples.motion[index]), np.asarray(examples.shapes[index])]
    rows = []
    for camera in cameras:
        view = camera.framing(np.stack(shapes))
        rows.append([render(shape, rig.mesh.triangles, view, (480, 420)) for shape in shapes])
    save_png(IMG / f"{title}.png", montage(rows, titles=["plain skinning", "simulated"]))


def grasps() -> None:
    """The named grasps of the built-in hand, each from the palm's and the thumb's side."""
    examples = datasets.hand_grasps(level=2).named("!grasp *")
    cells, titles = [], []
    for index in range(len(examples)):
        shape = np.asarray(examples.shapes[index])
        views = [Camera.fit(shape, towards) for towards in ((0.1, 0.2, -1), (-1, 0.25, -0.15))]
        cells.append([render(shape, examples.rig.mesh.triangles, view, (230, 250)) for view in views])
        titles.append(examples.motion.names[index])
    rows = [[cell for pair in cells[k : k + 3] for cell in pair] for k in range(0, len(cells), 3)]
    labels = [", ".join(titles[k : k + 3]) for k in range(0, len(cells), 3)]
    save_png(IMG / "grasps.png", montage(rows, labels=labels))


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
    "grasps": grasps,
    "muscles": muscle_pictures.muscles,
    "signals": muscle_pictures.signals,
    "retarget": muscle_pictures.retarget,
    "frame": frame,
    "bones": bones,
    "points": points_pictures.points,
    "scans": scans,
    "register": register_pictures.registered,
    "real-hand": register_pictures.real_hand,
}

if __name__ == "__main__":
    for picture in sys.argv[1:] or PICTURES:
        if picture.endswith(".examples"):
            outside_rig(Path(picture))
        else:
            PICTURES[picture]()
