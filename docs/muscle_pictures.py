"""Pictures of virtual muscles and retargeting; `pictures.py` runs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import posespace as ps
from posespace.datasets.bending_arm import true_shape
from posespace.fit.weights.nearest_bone import on_nearest_bone
from posespace.report.camera import Camera
from posespace.report.colours import heat
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

IMG = Path(__file__).with_name("img")


def muscles() -> None:
    """Frames that the fit did not see: the truth, bones alone, plain skinning and seven signals."""
    train, unseen = ps.datasets.arm()
    skin, rig = ps.Muscles(7).fit(train), unseen.rig
    ways = {
        "truth": None,
        "nearest bone alone": lambda pose: on_nearest_bone(rig).skin(pose),
        "plain skinning": rig.skin,
        "seven signals": lambda pose: skin.pose(pose)[0],
    }
    rows = []
    for frame in (3, 15):
        pose, truth = unseen.motion[frame], unseen.shapes[frame]
        camera = Camera.fit(truth, (1.0, 0.15, 0.1), up=(0.0, -1.0, 0.0))
        cells = []
        for way in ways.values():
            points = truth if way is None else way(pose)
            colors = None if way is None else heat(np.linalg.norm(points - truth, axis=1), 10.0)
            cells.append(render(points, rig.mesh.triangles, camera, (300, 380), colors=colors))
        rows.append(cells)
    names = [unseen.motion.names[frame] for frame in (3, 15)]
    page = montage(rows, labels=names, titles=list(ways), scale=("distance from the truth, mm", 10.0))
    save_png(IMG / "muscles.png", page)


def signals() -> None:
    """The signals of the arm over time, and the angles that drive them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    clip = ps.datasets.arm_clip()
    skin = ps.Muscles(7).fit(clip)
    skeleton = clip.rig.skeleton
    driver = skin.layers[0].driver
    values = driver.interpolant(driver.space.coordinates(clip.motion, skeleton))
    angles = np.degrees(skeleton.angles(clip.motion.rotations)[:, 1:, 0])
    figure = Figure(figsize=(8, 5), dpi=110, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for column in range(values.shape[1]):
        above.plot(clip.motion.times, values[:, column], label=f"signal {column + 1}")
    for column, name in enumerate(("elbow", "twist of the forearm")):
        below.plot(clip.motion.times, angles[:, column], label=name)
    above.set_ylabel("signal")
    below.set_ylabel("degrees")
    below.set_xlabel("seconds")
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
    FigureCanvasAgg(figure).print_png(str(IMG / "signals.png"))


def retarget() -> None:
    """A stronger biceps on a thin arm, carried to a thick one on another mesh."""
    x1, x2 = (bending(1.0, 40, strength) for strength in (0.0, 0.9))
    y1, true = (bending(1.35, 52, strength) for strength in (0.0, 0.9))
    motion = ps.datasets.bending_arm(rings=40, sides=32)[0].motion
    skins = {"X1": x1, "X2": x2, "Y1": y1, "Y2, retargeted": ps.retarget(x1, x2, y1, motion), "Y2, true": true}
    pose = motion["bend 96 twist 0 #22"]
    shapes = {name: skin.pose(pose)[0] for name, skin in skins.items()}
    camera = Camera.fit(shapes["Y2, true"], (0.0, 0.0, 1.0))
    cells = [render(shapes[name], skins[name].rig.mesh.triangles, camera, (300, 300)) for name in skins]
    save_png(IMG / "retarget.png", montage([cells], titles=list(skins)))


def bending(thick: float, rings: int, strength: float) -> ps.Skin:
    """The bending arm, stretched across its length, with a biceps that swells more as the elbow bends."""
    given = ps.datasets.bending_arm(rings=rings, sides=32)[0]
    mesh = given.rig.mesh.with_points(given.rig.mesh.points * np.array([1.0, thick, thick]))
    rig = ps.Rig(mesh, given.rig.skeleton, given.rig.influences, given.rig.weights)
    angles = rig.skeleton.angles(given.motion.rotations)
    place = np.exp(-(((mesh.points[:, [0]] + 0.55) / 0.2) ** 2))
    swelling = strength * place * mesh.points * np.array([0.0, 1.0, 1.0])
    shapes = [
        true_shape(mesh.points, bend, twist) + (0.5 - 0.5 * np.cos(bend)) * swelling
        for bend, twist in zip(angles[:, 1, 2], angles[:, 2, 0], strict=True)
    ]
    return ps.Muscles(8, bits=32).fit(ps.Examples.from_shapes(rig, given.motion, shapes))
