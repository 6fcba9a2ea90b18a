"""Deformation transfer: between two builds of a hand, whose truth is known, and from a horse to a camel, in pictures.

uv run python benchmarks/transfer.py [--picture transfer.png] [--json]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from retarget import Hands
from timing import show

import posespace as ps
from posespace.geometry.farthest_points import spread
from posespace.geometry.surface import Surface
from posespace.report.camera import Camera
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render

DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
EVERY = 12
"""Of the frames of the hands, each so manyth is taken."""

MARKS = 30
"""Landmarks on the hands, spread as far apart as they can be."""

SIDES = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0))
Array = NDArray[np.floating[Any]]


def spread_marks(points: Array) -> list[int]:
    """Vertices far apart from each other."""
    places = np.asarray(points, dtype=np.float64)
    away = np.linalg.norm(places - places.mean(axis=0), axis=1)
    return spread(away, lambda k: np.linalg.norm(places - places[k], axis=1), MARKS, 0.0)


def hands() -> list[dict[str, Any]]:
    """The poses of one build on another, as fractions of the diagonal."""
    made = Hands(DATA)
    stored = np.load(DATA / "makehuman-cc0" / "hand_left_crop.npz")["shape_names"]
    source, motion = made.rig(np.zeros_like(made.points)), made.motion()[::EVERY]
    posed = np.stack([source.skin(pose) for pose in motion])
    chosen = spread_marks(made.points)
    marks = {str(k): tuple(made.points[k].tolist()) for k in chosen}
    rows = []
    for name, delta in zip(stored.tolist(), made.shapes, strict=True):
        same, other = made.rig(delta), made.rig(delta, fine=True)
        there = {str(k): tuple((made.points + delta)[k].tolist()) for k in chosen}
        follows, turn = ps.triangle_correspondence(source.mesh, other.mesh, marks, there)
        left = np.stack([same.skin(pose) for pose in motion])
        rows.append(
            {
                "to": name.removeprefix("l-hand-"),
                "poses": len(motion),
                "same triangles": off(ps.transfer(source.mesh, posed, same.mesh), same, motion),
                "other triangles, 30 landmarks": off(
                    ps.transfer(source.mesh, posed, other.mesh, follows, turn), other, motion
                ),
                "left at rest": f"{gap(np.broadcast_to(same.mesh.points, left.shape), left) / same.mesh.diagonal:.2%}",
            }
        )
    return rows


def off(found: Array, target: ps.Rig, motion: ps.Motion) -> str:
    """The mean error of transferred shapes, as a fraction of the diagonal."""
    truth = np.stack([target.skin(pose) for pose in motion])
    return f"{gap(found, truth) / target.mesh.diagonal:.2%}"


def gap(one: Array, other: Array) -> float:
    """The mean distance of shapes (P, N, 3), each about its middle: transfer leaves the place of the whole open."""
    return float(np.linalg.norm(centred(one) - centred(other), axis=2).mean())


def centred(points: Array) -> Array:
    """Points (..., N, 3) about their middle."""
    return points - points.mean(axis=-2, keepdims=True)


def bone_marks(rig: ps.Rig) -> dict[str, tuple[float, ...]]:
    """Where lines from the middle of each bone's skin to six sides leave it."""
    points = np.asarray(rig.mesh.points, dtype=np.float64)
    weights = rig.dense_weights()
    found = {}
    for joint, name in enumerate(rig.skeleton.names):
        own = points[weights[:, joint] > 0.6]
        if len(own) < 8:
            continue
        middle = own.mean(axis=0)
        for number, side in enumerate(SIDES):
            along = (own - middle) @ side
            beside = np.linalg.norm(own - middle - along[:, None] * side, axis=1)
            near = np.where(along > 0, beside - 0.2 * along, np.inf)
            if beside[near.argmin()] < 0.3 * along[near.argmin()]:
                found[f"{part_of(name)} {number}"] = tuple(own[near.argmin()].tolist())
    return found


def part_of(name: str) -> str:
    """A bone's name without the animal's."""
    return name.partition(" ")[2]


def quadrupeds(picture: Path | None) -> list[dict[str, Any]]:
    """The horse's clip on the camel: other triangles, the same names of bones."""
    folder = DATA / "quadrupeds-rocketbox"
    horse, camel = (ps.load_rig(folder / f"{name}.glb") for name in ("Horse_Brown_01", "Camel_OneHump_01"))
    poses = bent(horse)
    posed = np.stack([horse.skin(pose) for pose in poses])
    own, other = bone_marks(horse), bone_marks(camel)
    both = [name for name in own if name in other]
    follows, turn = ps.triangle_correspondence(
        horse.mesh, camel.mesh, {name: own[name] for name in both}, {name: other[name] for name in both}
    )
    found = ps.transfer(horse.mesh, posed, camel.mesh, follows, turn)
    if picture is not None:
        draw(picture, (horse.mesh, np.concatenate([horse.mesh.points[None], posed])), (camel.mesh, found))
    edges = camel.mesh.triangles[:, [0, 1]]
    lengths = [np.linalg.norm(np.diff(shape[edges], axis=1)[:, 0], axis=1) for shape in (camel.mesh.points, *found)]
    stretch = np.stack(lengths[1:]) / np.maximum(lengths[0], 1e-12)
    return [
        {
            "landmarks by bones": len(both),
            "triangles that follow": f"{(follows >= 0).mean():.1%}",
            "edges within 20 % of their length": f"{(np.abs(stretch - 1) < 0.2).mean():.1%}",
            "crossing triangles at rest": len(Surface(camel.mesh.points, camel.mesh.triangles).crossings()),
            "and posed": max(len(Surface(shape, camel.mesh.triangles).crossings()) for shape in found),
        }
    ]


def bent(rig: ps.Rig) -> ps.Motion:
    """Poses of a quadruped: a fore leg lifted, the neck lowered, the head turned."""
    from scipy.spatial.transform import Rotation

    names = rig.skeleton.names
    chosen = {
        "leg lifted": {"L UpperArm": (-0.6, (1, 0, 0)), "L Forearm": (1.1, (1, 0, 0))},
        "neck lowered": {"Neck1": (0.5, (1, 0, 0)), "Neck2": (0.4, (1, 0, 0))},
        "head turned": {"Neck1": (0.4, (0, 1, 0)), "Head": (0.5, (0, 1, 0))},
    }
    world = np.tile(rig.skeleton.rest_world, (len(chosen), 1, 1, 1))
    for number, turns in enumerate(chosen.values()):
        for part, (angle, axis) in turns.items():
            joint = next(k for k, name in enumerate(names) if part_of(name) == part)
            turn, place = np.eye(4), world[number, joint, :3, 3].copy()
            turn[:3, :3] = Rotation.from_rotvec(angle * np.array(axis)).as_matrix()
            turn[:3, 3] = place - turn[:3, :3] @ place
            for below in descendants(rig.skeleton, joint):
                world[number, below] = turn @ world[number, below]
    return ps.Motion.from_world(rig.skeleton, world, names=list(chosen))


def descendants(skeleton: ps.Skeleton, joint: int) -> list[int]:
    """A joint and all below it."""
    return [joint, *(deeper for child in skeleton.children[joint] for deeper in descendants(skeleton, child))]


def draw(path: Path, source: tuple[ps.Mesh, Array], target: tuple[ps.Mesh, Array]) -> None:
    """Save a page of the source's shapes above the target's."""
    rows = []
    for mesh, shapes in (source, (target[0], np.concatenate([target[0].points[None], target[1]]))):
        camera = Camera.fit(shapes, (0.8, 0.25, 0.55))
        rows.append([render(shape, mesh.triangles, camera, (300, 280)) for shape in shapes])
    titles = ["at rest", "leg lifted", "neck lowered", "head turned"]
    save_png(path, montage(rows, ["horse", "camel, by transfer"], titles))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", type=Path, help="where to save a page of the horse and the camel")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    show("Between builds of a hand: mean error, of the diagonal", hands(), given.json)
    show("From a horse to a camel", quadrupeds(given.picture), given.json)


if __name__ == "__main__":
    main()
