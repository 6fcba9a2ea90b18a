"""Control points: leave-one-out errors on scanned hands, against FKY08, MESHIK and ARAP; detail; what is stored.

Each of 14 examples is left out in turn, and everything, virtual bones and control points too, is found without it. The
error is the root mean square over the vertices, the largest side of the box being 1, averaged over the 14. Width and
ridge of our defaults and of FKY08 are each chosen on hand one over the same grid (--tune) and judged on hand two.

Run: uv run python benchmarks/points.py [--full] [--tune] [--rivals] [--hand 1 2] [--poses spanning random grasps]
         [--only shapes heights coupling stored] [--methods NAME...] [--beta 3 30]
Small by default (3,000 vertices, 100 bones); --full: 49,000 and 196,000 vertices, 1,300 bones.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from timing import show

import posespace as ps
from posespace.check import Floats
from posespace.evaluation.storage import stored_bytes
from posespace.geometry import rotations
from posespace.poses.control_points import examples_from_shapes
from posespace.rivals import height_rivals, point_rivals

PARTS = ("shapes", "heights", "coupling", "stored")
BETAS = (3.0, 30.0)
WIDTHS, RIDGES = (1.0, 2.0, 4.0, 8.0, 16.0), (1e-4, 1e-3, 1e-2)

PAPER: dict[str, Any] = {"width": 1.0, "ridge": 0.05, "near_points": 7, "near_poses": 7}
PLAIN: dict[str, Any] = {"axes": "global", "corrections": 0}
WIDE: dict[str, Any] = {"width": 4.0, "ridge": 1e-3}
TUNED: dict[str, Any] = {"width": 8.0, "ridge": 1e-4}
METHODS: dict[str, dict[str, Any]] = {
    "FKY08, width 1": {**PAPER, "local": "none"},
    "local in pose, width 1": {**PAPER, "local": "pose"},
    "local in geometry, width 1": {**PAPER, **PLAIN},
    "both, as in the paper, global axes": {**PAPER, "local": "both", "axes": "global"},
    "both, as in the paper": {**PAPER, "local": "both"},
    "FKY08, width 4": {**WIDE, "local": "none"},
    "FKY08, tuned": {**TUNED, "local": "none"},
    "local in pose, width 4": {**WIDE, "local": "pose"},
    "both, width 4": {**WIDE, "local": "both"},
    "local in geometry, width 4": {**WIDE, **PLAIN},
    "defaults without corrections": {"corrections": 0},
    "defaults": {},
}


@dataclass(frozen=True, eq=False)
class Fold:
    """Examples without one of them, whose rest is one of them, their virtual bones, and what was left out."""

    train: ps.Examples
    bones: ps.Rig
    truth: Floats
    heights: Floats


def folds(hand: Any, bones: int) -> Iterator[Fold]:
    """Leave out each example in turn."""
    examples = replace(hand.examples, heights=hand.heights, levels=1)
    shapes = np.stack([np.asarray(shape) for _, shape in examples])
    for left in range(len(examples)):
        kept = [k for k in range(len(examples)) if k != left]
        # The rest shape, or, where that is left out, the shape in the middle.
        middle = min(kept, key=lambda k: ((shapes[k] - shapes[kept].mean(axis=0)) ** 2).sum()) if left == 0 else 0
        rig = ps.Rig.from_mesh(ps.Mesh(shapes[middle], hand.mesh.triangles, unit=hand.mesh.unit))
        motion = ps.Motion(np.tile(rotations.IDENTITY, (len(kept), 1, 1)), names=[hand.names[k] for k in kept])
        train = ps.Examples(rig, motion, shapes[kept], hand.heights[kept], 1)
        virtual = ps.bones(shapes[kept], bones, hand.mesh.triangles, rest=shapes[middle], rounds=1).rig
        yield Fold(train, virtual, shapes[left], hand.heights[left])


def held_out(skin: ps.Skin, fold: Fold) -> ps.Pose:
    """The pose of a skin's points in the shape that was left out."""
    shifts = np.zeros((len(skin.rig.skeleton), 3))
    shifts[1:] = fold.truth[skin.bones.points] - skin.bones.rest
    return ps.Pose(np.tile(rotations.IDENTITY, (len(shifts), 1)), shifts)


def error(points: Floats, fold: Fold) -> float:
    """Root mean square over the vertices, the largest side of the rest shape's box being 1."""
    side = float(np.ptp(fold.train.rig.mesh.points, axis=0).max())
    return float(np.sqrt(((points - fold.truth) ** 2).sum(axis=1).mean())) / side


def errors(every: list[Fold], settings: dict[str, Any], betas: Sequence[float] = BETAS) -> dict[float, float]:
    """The mean error over the folds, by beta."""
    found: dict[float, list[float]] = {beta: [] for beta in betas}
    for fold, beta in itertools.product(every, betas):
        skin = ps.ControlPoints(**settings, beta=beta).fit(replace(fold.train, heights=None), fold.bones)
        found[beta].append(error(skin.pose(held_out(skin, fold))[0], fold))
    return {beta: float(np.mean(values)) for beta, values in found.items()}


def rival_error(every: list[Fold], method: Any) -> float:
    """The mean error of a rival that holds the same points."""
    found = []
    for fold in every:
        skin = ps.ControlPoints().fit(replace(fold.train, heights=None), fold.bones)
        plain = replace(fold.train, heights=None)
        surface = method.fit(examples_from_shapes(plain, skin.rig, skin.bones.points))
        found.append(error(surface.pose(held_out(skin, fold))[0], fold))
    return float(np.mean(found))


def tune(every: list[Fold]) -> list[dict[str, Any]]:
    """FKY08 and the defaults over the same grid of width and ridge."""
    rows = []
    for width, ridge in itertools.product(WIDTHS, RIDGES):
        both: dict[str, Any] = {"width": width, "ridge": ridge}
        row: dict[str, Any] = dict(both)
        for name, own in (("FKY08", {"local": "none"}), ("defaults", {})):
            row |= {f"{name}, beta {beta:g}": f"{value:.4f}" for beta, value in errors(every, {**both, **own}).items()}
        rows.append(row)
    return rows


def detail(every: list[Fold]) -> list[dict[str, Any]]:
    """Errors of the heights of examples that were left out, in micrometres: a static map, the cascade, ours."""
    found: dict[str, list[float]] = {}
    for fold in every:
        surface = ps.ControlPoints().fit(replace(fold.train, heights=None), fold.bones)
        skins: dict[str, Any] = {name: method.fit(fold.train) for name, method in height_rivals(surface).items()}
        skins["defaults: near points"] = ps.ControlPoints().fit(fold.train, fold.bones)
        pose = held_out(surface, fold)
        guessed = {name: skin.heights(pose) for name, skin in skins.items()}
        guessed["the mean of the examples"] = np.mean(fold.train.heights, axis=0)  # type: ignore[arg-type]
        for name, heights in guessed.items():
            found.setdefault(name, []).append(float(np.sqrt(((heights - fold.heights) ** 2).mean())))
    rows = [{"heights": name, "RMS, µm": round(1000 * float(np.mean(values)), 1)} for name, values in found.items()]
    return [{**row, "of the static map": round(row["RMS, µm"] / rows[0]["RMS, µm"], 3)} for row in rows]  # type: ignore[operator]


def coupling(hand: Any, bones: int) -> list[dict[str, Any]]:
    """How far the little finger moves when the point nearest to the thumb's tip is moved by 20 mm, at rest."""
    rig = hand.examples.rig
    rows = []
    for name in ("defaults", "both, as in the paper", "FKY08, tuned", "FKY08, width 1"):
        skin = ps.ControlPoints(**{"bones": bones, **METHODS[name]}).fit(hand.examples)
        joint = {joint: rig.skeleton.index(joint) for joint in ("thumb_ip", "little_pip", "little_dip")}
        weights = rig.dense_weights()
        places = skin.bones.rest
        point = int(np.argmax(weights[skin.bones.points][:, joint["thumb_ip"]] + 1e-3 * places[:, 1] / 100))
        little = weights[:, [joint["little_pip"], joint["little_dip"]]].sum(axis=1) > 0.9
        start = examples_from_shapes(hand.examples, skin.rig, skin.bones.points).motion[0]
        shifts = np.array(start.translations)
        shifts[1 + point] += (0.0, 0.0, -20.0)
        gap = skin.pose(replace(start, translations=shifts))[0] - skin.pose(start)[0]
        far = np.linalg.norm(gap, axis=1)
        rows.append(
            {
                "model": name,
                "at the point, mm": round(float(far[skin.bones.points[point]]), 2),
                "little finger, mean mm": round(float(far[little].mean()), 3),
                "little finger, most mm": round(float(far[little].max()), 3),
            }
        )
    return rows


def stored(hand: Any, bones: int) -> list[dict[str, Any]]:
    """Bytes per vertex against those of the examples, and what is lost in fewer bits; the examples that come back."""
    full = replace(hand.examples, heights=hand.heights, levels=1)
    count, fine = len(hand.mesh.points), hand.heights.shape[1]
    skin = ps.ControlPoints(bones=bones).fit(full)
    start = examples_from_shapes(full, skin.rig, skin.bones.points).motion
    # Shapes of three numbers and heights of one, for all 14.
    bytes_of = {32: 14 * 4 * (3 * count + fine), 16: 14 * 2 * (3 * count + fine), 8: 14 * (3 * count + fine)}
    rows = []
    for bits, given in bytes_of.items():
        packed = skin.packed(bits)
        lost = [np.linalg.norm(packed.pose(pose)[0] - skin.pose(pose)[0], axis=1).max() for pose in start[:3]]
        rows.append(
            {
                "bits of heights": bits,
                "bytes per base vertex": round(stored_bytes(packed) / count, 1),
                "the 14 examples": round(given / count, 1),
                "lost, largest µm": round(1000 * float(max(lost)), 2),
                "RMS on its examples": f"{skin.about['rms on its examples']:.4f}",
            }
        )
    return rows


def table(every: list[Fold], methods: list[str], betas: Sequence[float], with_rivals: bool) -> list[dict[str, Any]]:
    """Some methods on one set, against FKY08 with the same beta."""
    found = {}
    for name in methods:
        found[name] = errors(every, METHODS[name], betas)
        print(f"{name}: {found[name]}", file=sys.stderr)
    rows = []
    for name, values in found.items():
        row: dict[str, Any] = {"method": name}
        for beta in betas:
            row[f"RMS, beta {beta:g}"] = f"{values[beta]:.4f}"
            for short, other in (("FKY08", "FKY08, width 1"), ("tuned", "FKY08, tuned")):
                if other in found:
                    row[f"/ {short}, beta {beta:g}"] = f"{values[beta] / found[other][beta]:.3f}"
        rows.append(row)
    if with_rivals:
        for name, method in point_rivals().items():
            value = rival_error(every, method)
            rows.append({"method": name, **{f"RMS, beta {beta:g}": f"{value:.4f}" for beta in betas}})
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="49,000 and 196,000 vertices, 1,300 bones")
    parser.add_argument("--tune", action="store_true", help="the grid of width and ridge too, on hand one")
    parser.add_argument("--rivals", action="store_true", help="MESHIK and ARAP too")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="of the table of errors")
    parser.add_argument("--beta", type=float, nargs="+", default=BETAS)
    parser.add_argument("--hand", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--poses", nargs="+", default=["spanning", "random", "grasps"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--vertices", type=int, default=3000)
    parser.add_argument("--bones", type=int, default=100)
    given = parser.parse_args()
    vertices, bones = (49_000, 1300) if given.full else (given.vertices, given.bones)
    for which, poses in itertools.product(given.hand, given.poses):
        hand = ps.datasets.scanned_hand(which, poses, vertices)
        every = list(folds(hand, bones)) if {"shapes", "heights"} & set(given.only) else []
        title = f"hand {which}, {poses}, {len(hand.mesh.points)} vertices, {bones} bones"
        if given.tune and which == 1:
            show(f"{title}: the grid", tune(every), given.json)
        if "shapes" in given.only:
            show(f"{title}: left out in turn", table(every, given.methods, given.beta, given.rivals), given.json)
        if "heights" in given.only:
            show(f"{title}: heights left out in turn", detail(every), given.json)
        if "coupling" in given.only and poses == "spanning":
            show(f"{title}: false coupling", coupling(hand, bones), given.json)
        if "stored" in given.only and poses == "spanning":
            show(f"{title}: stored", stored(hand, bones), given.json)


if __name__ == "__main__":
    main()
