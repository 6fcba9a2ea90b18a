"""Retargeting with known truth: how much of the change from Y1 to Y2 is missed; 1 is as bad as copying Y1 unchanged.

Four pairs of bodies: hands of several identities, the same hands with their deformation made stronger, faces of several
identities, and simulated arms, thin and thick, of two tissues. X2 also comes on another mesh, with other vertex counts.
Run: uv run python benchmarks/retarget.py [--json] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import posespace as ps
from posespace.fit.retarget.retarget import Sampled
from posespace.geometry import rotations
from posespace.interpolate.fitted import RBFInterpolant
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer

Array = NDArray[np.float64]
DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
FRAMES = 60
STRONGER = 1.5


@dataclass(frozen=True, eq=False)
class Case:
    """Three skins and the truth, X2 also on another mesh, at the poses of a motion."""

    x1: ps.Skin
    x2: ps.Skin
    y1: ps.Skin
    y2: ps.Skin
    other_x2: ps.Skin
    motion: ps.Motion


def deformation(skin: ps.Skin, motion: ps.Motion) -> Array:
    """What a skin does beyond its bones (P, N, 3), each vertex in the frame of its nearest bone."""
    return Sampled.of(skin, motion).frames().astype(np.float64)


def ways(case: Case) -> dict[str, Array]:
    """The deformation of Y2 by each way there is."""
    x1, x2, y1 = (deformation(skin, case.motion) for skin in (case.x1, case.x2, case.y1))

    def played(x2: ps.Skin, transfer: str, correspondence: str) -> Array:
        skin = ps.retarget(case.x1, x2, case.y1, case.motion, 0, transfer, correspondence, bits=32)
        return deformation(skin, case.motion)

    return {
        "Y1 copied": y1,
        "X2 − X1 added per vertex": y1 + x2 - x1,
        "operator, equal counts": played(case.x2, "operator", "same"),
        "operator, X2 cut short, padded": played(cut(case.x2), "operator", "padding"),
        "operator, other mesh, padded": played(case.other_x2, "operator", "padding"),
        "operator, other mesh, closest points": played(case.other_x2, "operator", "closest"),
        "difference, other mesh, closest points": played(case.other_x2, "difference", "closest"),
        "chosen, other mesh": played(case.other_x2, None, None),
    }


def cut(skin: ps.Skin) -> ps.Skin:
    """A skin without its last tenth of vertices, those before in their order: the best that padding can hope for."""
    kept = len(skin.rig.mesh.points) * 9 // 10
    triangles = skin.rig.mesh.triangles
    mesh = ps.Mesh(skin.rig.mesh.points[:kept], triangles[(triangles < kept).all(axis=1)])
    rig = ps.Rig(mesh, skin.rig.skeleton, skin.rig.influences[:kept], skin.rig.weights[:kept], skin.rig.inverse_bind)
    layers = []
    for layer in skin.layers:
        inside = layer.support < kept
        layers.append(Layer(layer.name, layer.driver, layer.support[inside], np.asarray(layer.basis)[:, inside]))
    return ps.Skin(rig, tuple(layers))


def table(cases: Iterator[Case]) -> dict[str, list[float]]:
    """The missed fraction of the change, by way, for each case."""
    found: dict[str, list[float]] = {}
    for case in cases:
        truth, unchanged = (deformation(skin, case.motion) for skin in (case.y2, case.y1))
        change = np.linalg.norm(truth - unchanged)
        for name, guess in ways(case).items():
            found.setdefault(name, []).append(float(np.linalg.norm(guess - truth) / change))
    return found


def finer(mesh: ps.Mesh, *values: Array) -> tuple[NDArray[np.int64], list[Array]]:
    """Triangles and per-vertex values of a mesh with a vertex in the middle of each edge, all in another order."""
    corners = np.asarray(mesh.triangles, dtype=np.int64)
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
    ends, which = np.unique(edges, axis=0, return_inverse=True)
    count = len(mesh.points)
    ab, bc, ca = (count + which.reshape(3, -1)).astype(np.int64)
    a, b, c = corners.T
    split = np.concatenate([np.stack(three, axis=1) for three in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    order = np.random.default_rng(0).permutation(count + len(ends))
    place = np.argsort(order)
    return place[split], [np.concatenate([each, each[ends].mean(axis=1)])[order] for each in values]


class Hands:
    """The hand of MakeHuman: a crop of its base mesh, with five shape targets in correspondence."""

    def __init__(self, data: Path) -> None:
        found = np.load(data / "makehuman-cc0" / "hand_left_crop.npz")
        self.names, self.parents = found["bone_names"].tolist(), found["bone_parents"]
        self.points, self.shapes = found["verts"].astype(np.float64), found["shape_deltas"].astype(np.float64)
        self.mesh, self.weights = ps.Mesh(self.points, found["tris"]), found["weights"].astype(np.float64)
        self.heads, self.tails = found["bone_heads"], found["bone_tails"]

    def rig(self, delta: Array, fine: bool = False) -> ps.Rig:
        """A hand of another shape; its joints follow the skin that bends there."""
        heads = self.heads.copy()
        for joint, parent in enumerate(self.parents):
            near = self.weights[:, joint] * (self.weights[:, parent] if parent >= 0 else 1.0)
            if near.sum() > 0:
                heads[joint] += near @ delta / near.sum()
        world = np.tile(np.eye(4), (len(heads), 1, 1))
        world[:, :3, 3] = heads
        triangles, points, weights = self.mesh.triangles, self.points + delta, self.weights
        if fine:
            triangles, (points, weights) = finer(self.mesh, points, weights)
        return ps.Rig.from_arrays(points, triangles, weights, self.parents, world, self.names)

    def motion(self) -> ps.Motion:
        """Fingers that curl, each in its own time."""
        turn = np.tile(rotations.IDENTITY, (FRAMES, len(self.names), 1))
        wrist, index, little = (
            self.heads[self.names.index(name)] for name in ("wrist.L", "finger2-1.L", "finger5-1.L")
        )
        palm = np.cross(index - wrist, little - wrist)
        for finger in range(1, 6):
            curl = (1 - np.cos(2 * np.pi * np.arange(FRAMES) / (20 + 7.4 * finger))) / 2
            for bone in range(1, 4):
                joint = self.names.index(f"finger{finger}-{bone}.L")
                axis = np.cross(palm, self.tails[joint] - self.heads[joint])
                angle = np.radians(60 if finger > 1 else 30) * curl
                turn[:, joint] = rotations.from_axis_angle(axis / np.linalg.norm(axis), angle)
        return ps.Motion(turn)

    def identities(self) -> Iterator[Case]:
        """X1 the base hand, X2 and Y1 each another identity, Y2 both at once."""
        motion, still = self.motion(), np.zeros_like(self.points)
        for one, other in zip(self.shapes, np.roll(self.shapes, 1, axis=0), strict=True):
            x1, x2, y1, y2 = (ps.Skin(self.rig(delta)) for delta in (still, one, other, one + other))
            yield Case(x1, x2, y1, y2, ps.Skin(self.rig(one, fine=True)), motion)

    def stronger(self) -> Iterator[Case]:
        """X1 the base hand, X2 the same with a stronger deformation, Y1 and Y2 the same of each identity."""
        motion, still = self.motion(), np.zeros_like(self.points)
        for delta in self.shapes:
            x1, y1, fine = (
                _exact(15).fit(played(self.rig(each, fine), motion))
                for each, fine in ((still, False), (delta, False), (still, True))
            )
            x2, y2, other = (skin.edited(exaggerate=STRONGER) for skin in (x1, y1, fine))
            yield Case(x1, x2, y1, y2, other, motion)


def _exact(signals: int) -> ps.Muscles:
    """Muscles that reproduce each frame, and that hold all that the nearest bones leave."""
    return ps.Muscles(signals, centres=None, smoothing=1e-8, bones="nearest", bits=32)


def played(rig: ps.Rig, motion: ps.Motion) -> ps.Examples:
    """The shapes of plain skinning as examples."""
    return ps.Examples.from_shapes(rig, motion, [rig.skin(pose) for pose in motion])


def faces(data: Path) -> Iterator[Case]:
    """Expressions of the generic face, of two identities, and of both at once; all from the generic neutral shape."""
    found = np.load(data / "face-ict-facekit" / "ict_face_head.npz")
    mesh = ps.Mesh(found["neutral"], found["tris"])
    names, deltas = tuple(map(str, found["names"][:43])), found["deltas"].astype(np.float64)
    expressions, identities = deltas[:43], deltas[43:]
    rig = ps.Rig.from_mesh(mesh)
    values = np.eye(len(names))
    motion = ps.Motion(np.tile(rotations.IDENTITY, (len(names), 1, 1)), controls=values, control_names=names)
    flat = [np.moveaxis(each, 0, 1) for each in (expressions, identities)]
    triangles, (points, moves, shapes) = finer(mesh, np.asarray(mesh.points, dtype=np.float64), *flat)
    fine = ps.Rig.from_mesh(ps.Mesh(points, triangles))
    for first in range(0, 10, 2):
        one, other = identities[first], identities[first + 1]
        x1, x2, y1, y2 = (face(rig, names, expressions, delta) for delta in (0 * one, one, other, one + other))
        yield Case(x1, x2, y1, y2, face(fine, names, np.moveaxis(moves, 1, 0), shapes[:, first]), motion)


def face(rig: ps.Rig, names: tuple[str, ...], expressions: Array, identity: Array) -> ps.Skin:
    """Blend shapes with a displacement that is always there."""
    count = len(names)
    weights = np.vstack([np.zeros((1, count + 1)), np.zeros((1, count + 1)), np.eye(count, count + 1)])
    weights[1, count] = 1.0
    driver = Driver(
        ps.PoseSpace("controls", names),
        RBFInterpolant("linear", "euclidean", "linear", np.ones(count), np.zeros((1, count)), weights),
    )
    basis = np.concatenate([expressions, identity[None]])
    return ps.Skin(rig, (Layer("face", driver, np.arange(len(rig.mesh.points)), basis),))


def arms() -> Iterator[Case]:
    """Simulated arms: X thin, Y thick; 1 of a tissue that gives way, 2 of one that hardly changes its volume."""
    from posespace.simulation.bodies.arm import arm, clip

    thin, other = arm(1200), arm(900)
    skeleton = thin.rig.skeleton
    # Bent by 56 degrees at most: further on, coarse elements fold.
    motion = ps.Motion(skeleton.rotations(0.7 * skeleton.angles(clip(80).rotations))[::2])
    x1, x2, y1, y2 = (
        simulated(thin, thick, poisson, motion) for thick, poisson in ((1.0, 0.3), (1.0, 0.48), (1.3, 0.3), (1.3, 0.48))
    )
    yield Case(x1, x2, y1, y2, simulated(other, 1.0, 0.48, motion), motion)


def simulated(body: object, thick: float, poisson: float, motion: ps.Motion) -> ps.Skin:
    """A skin of a simulated arm that reproduces each frame."""
    from posespace.simulation.bodies.body import Body
    from posespace.simulation.mesh.tetmesh import tetrahedralise
    from posespace.simulation.settings import Tissue
    from posespace.simulation.solver.simulation import Simulation

    assert isinstance(body, Body)
    given = body.rig
    mesh = given.mesh.with_points(given.mesh.points * np.array([thick, 1.0, thick]))
    rig = ps.Rig(mesh, given.skeleton, given.influences, given.weights)
    simulation = Simulation(
        rig, tetrahedralise(mesh, body.bones, 5000, rig.skeleton.names, body.cuts), Tissue(1, poisson=poisson)
    )
    shapes = []
    for pose in motion:
        posed = simulation.solve(pose)
        assert posed.solution.converged
        shapes.append(posed.skin)
    return _exact(12).fit(ps.Examples.from_shapes(rig, motion, shapes))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, one line a table")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", help="one of: hands, stronger, faces, arms")
    given = parser.parse_args()
    hands = Hands(given.data)
    sets = {"hands": hands.identities, "stronger": hands.stronger, "faces": lambda: faces(given.data), "arms": arms}
    for title, cases in sets.items():
        if given.only not in (None, title):
            continue
        found = table(cases())
        rows = {name: {"mean": float(np.mean(each)), "worst": float(np.max(each))} for name, each in found.items()}
        count = len(next(iter(found.values())))
        if given.json:
            print(json.dumps({"title": title, "cases": count, "rows": rows}), flush=True)
            continue
        print(f"\n{title}, {count} cases\n| way | mean | worst |\n|---|---|---|")
        for name, row in rows.items():
            print(f"| {name} | {row['mean']:.3g} | {row['worst']:.3g} |", flush=True)


if __name__ == "__main__":
    main()
