"""A captured take drives a scanned hand: how far vertices move between frames, also through gaps, and β 3.0 and 0.3.

The take is real (`hand-markers-dfki` in the folder of real assets). The hand comes from fourteen scans, each registered
from its landmarks, with thirteen control points where the markers of the glove sit.
Run: uv run python benchmarks/markers.py [--rate 30] [--vertices 6000] [--skin hand.skin] [--picture]
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

import posespace as ps
from posespace.fit.points.points import ControlPoints
from posespace.geometry import rotations
from posespace.geometry.edges import edges_of
from posespace.report.camera import Camera
from posespace.report.montage import montage
from posespace.report.png import save_png
from posespace.report.render import render
from posespace.skin.edit import with_beta

DATA = Path(os.environ.get("POSESPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
IMG = Path(__file__).parents[1] / "docs" / "img"
BACK = ("hand_top", "hand_left", "hand_right")
FINGERS = ("index", "middle", "ring", "little")


def glove_points(rig: ps.Rig) -> dict[str, int]:
    """The vertex under each marker of the glove: on the back of the hand, the fingers' first bones and their tips."""
    skeleton = rig.skeleton
    world = skeleton.rest_world

    def at(joint: str, along: float = 0.0) -> np.ndarray:
        frame = world[skeleton.index(joint)]
        return frame[:3, 3] + along * frame[:3, 1]

    wanted = dict(zip(BACK, np.array([[0.0, 48, 16], [-20, 2, 11], [5, 4, 17]]), strict=True))
    for finger, length in zip(FINGERS, (12, 13, 13, 11), strict=True):
        wanted[f"{finger}_middle"] = (at(f"{finger}_mcp") + at(f"{finger}_pip")) / 2 + (0, 0, 8)
        wanted[f"{finger}_tip"] = at(f"{finger}_dip", length) + np.array([0, 0, 6])
    wanted["thumb_middle"] = (at("thumb_mcp") + at("thumb_ip")) / 2 + (-4, 0, 8)
    wanted["thumb_tip"] = at("thumb_ip", 14) + np.array([-4, 0, 6])
    upward = rig.mesh.normals()[:, 2] > 0.3
    return {
        name: int(np.where(upward, np.linalg.norm(rig.mesh.points - place, axis=1), np.inf).argmin())
        for name, place in wanted.items()
    }


def fitted(vertices: int, bones: int, kept: Path | None) -> tuple[ps.Skin, ps.MarkerMapping]:
    """A skin of the hand by fourteen registered scans, and how the glove drives it."""
    hand = ps.datasets.scanned_hand(1, "grasps", vertices)
    picked = glove_points(hand.examples.rig)
    pairs = {marker: f"point{k}" for k, marker in enumerate(picked, 1)}
    drive = ps.MarkerMapping(points=pairs, place_by=BACK)
    if kept is not None and kept.exists():
        return ps.Skin.load(kept), drive
    skin = ControlPoints(picked=tuple(picked.values()), bones=bones).fit(registered(hand))
    if kept is not None:
        skin.save(kept)
    return skin, drive


def registered(hand: ps.datasets.ScannedHand) -> ps.Examples:
    """The hand's fourteen scans, each with its own triangles, holes and noise, brought into correspondence."""
    registrar = ps.Registrar(hand.mesh, hand.landmarks, ps.Registration(levels=1))
    found = []
    for index in range(len(hand)):
        scan = ps.datasets.Scanner().scan(hand, index, seed=3)
        found.append(registrar.register(scan.mesh, {name: tuple(at) for name, at in scan.landmarks.items()}))
    far = max(each.figures["mean_distance"] for each in found)
    print(f"{len(found)} scans registered, the farthest {far:.3%} of the diagonal from its scan on average")
    rig = ps.Rig.from_mesh(hand.mesh)
    still = ps.Motion(np.tile(rotations.IDENTITY, (len(found), 1, 1)), names=hand.names)
    shapes, heights = np.stack([each.points for each in found]), np.stack([each.heights for each in found])
    return ps.Examples(rig, still, shapes, heights, 1)


def gapped(take: ps.Markers, what: str) -> ps.Markers:
    """The take as captured, or with more missing."""
    seen, second = take.seen.copy(), round(take.rate)
    if what == "every marker for a second, in turn":
        for k in range(len(take.names)):
            seen[2 * k * second + second : 2 * k * second + 2 * second, k] = False
    elif what == "all markers for three seconds":
        seen[1500:1800] = False
    elif what == "a third of all samples":
        rng = np.random.default_rng(7)
        for k in range(len(take.names)):
            for start in rng.integers(0, len(take), 30):
                seen[start : start + rng.integers(5, 100), k] = False
    return replace(take, seen=seen)


GAPS = ("as captured", "every marker for a second, in turn", "all markers for three seconds", "a third of all samples")


def steps_of(play: ps.Skin, motion: ps.Motion, ends: np.ndarray, lengths: np.ndarray) -> tuple[float, float, float]:
    """The largest step of a vertex between frames, the largest stretch of an edge, and how far points are missed."""
    compiled, before = play.compile(), None
    step, stretch, missed = 0.0, 0.0, 0.0
    rest = play.rig.mesh.points[play.bones.points]
    for pose in motion:
        points = np.array(compiled(pose)[0], dtype=np.float64)
        if before is not None:
            step = max(step, float(np.linalg.norm(points - before, axis=1).max()))
        now = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
        stretch = max(stretch, float(np.quantile(now / lengths, 0.999)))
        missed += float(np.linalg.norm(points[play.bones.points] - rest - pose.translations[1:], axis=1).mean())
        before = points
    return step, stretch, missed / len(motion)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=None, help="frames per second; by default the take's own, 100")
    parser.add_argument("--bones", type=int, default=100)
    parser.add_argument("--vertices", type=int, default=6000)
    parser.add_argument("--skin", type=Path, help="where the fitted skin is kept for the next run")
    parser.add_argument("--picture", action="store_true", help="draw docs/img/markers.png")
    given = parser.parse_args()
    skin, drive = fitted(given.vertices, given.bones, given.skin)
    take = ps.load_markers(DATA / "hand-markers-dfki" / "recording_train.tsv").chosen(list(drive.points))
    # Steps are those of the base surface: detail would hide nothing and cost four times as much.
    skin, whole = replace(skin, detail=None), skin
    mesh = skin.rig.mesh
    ends = edges_of(mesh.triangles).ends
    lengths = np.linalg.norm(mesh.points[ends[:, 0]] - mesh.points[ends[:, 1]], axis=1)
    print(f"{len(mesh.points)} vertices, {len(take)} frames at {take.rate:g} per second, lengths in mm")
    print("; ".join(drive.motion(take, skin.rig.skeleton, given.rate).notes()), end="\n\n")
    print("| missing | beta | largest step of a point | of a vertex | ratio | edges stretched | points missed by |")
    print("|---|---|---|---|---|---|---|")
    for what in GAPS:
        driven = drive.motion(gapped(take, what), skin.rig.skeleton, given.rate)
        fastest = float(np.linalg.norm(np.diff(driven.motion.translations[:, 1:], axis=0), axis=2).max())
        for beta in (3.0, 0.3):
            step, stretch, missed = steps_of(with_beta(skin, beta), driven.motion, ends, lengths)
            row = f"{fastest:.1f} | {step:.1f} | {step / fastest:.2f} | {stretch:.2f} | {missed:.1f}"
            print(f"| {what} | {beta:g} | {row} |", flush=True)
    if given.picture:
        picture(whole, drive, take)


def picture(skin: ps.Skin, drive: ps.MarkerMapping, take: ps.Markers) -> None:
    """By beta 3.0 and 0.3: an early frame, and those that stretch edges most, points beside markers and on them."""
    strong, weak = with_beta(skin, 3.0), with_beta(skin, 0.3)
    beside, literal = (
        replace(drive, offsets=offsets).motion(take, skin.rig.skeleton, 5.0).motion for offsets in (True, False)
    )
    columns = {
        "points keep their distance from the markers": (beside, 40),
        "the same, where edges are stretched most": (beside, _most_stretched(strong, beside)),
        "points where the markers are": (literal, _most_stretched(strong, literal)),
    }
    rows = []
    for play in (strong, weak):
        cells = []
        for motion, frame in columns.values():
            points, normals = play.pose(motion[frame])
            camera = Camera.fit(points, (-0.5, -0.2, 1.0), up=(0.0, 1.0, 0.0))
            cells.append(render(points, skin.mesh.triangles, camera, (340, 420), normals=normals))
        rows.append(cells)
    titles = [f"{name}, {motion.times[frame]:.1f} s" for name, (motion, frame) in columns.items()]
    save_png(IMG / "markers.png", montage(rows, labels=["beta 3.0", "beta 0.3"], titles=titles))


def _most_stretched(skin: ps.Skin, motion: ps.Motion) -> int:
    ends, skin = edges_of(skin.rig.mesh.triangles).ends, replace(skin, detail=None)

    def lengths(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)

    rest = lengths(skin.rig.mesh.points)
    return int(np.argmax([np.quantile(lengths(skin.pose(pose)[0]) / rest, 0.999) for pose in motion]))


if __name__ == "__main__":
    main()
